import Chat
import Synchronization
import Wire

/// The reading threads. They share a queue, and each answers several queries in one transaction.
final class LogReader: Sendable {
    private let queue: QueryQueue
    let backlog: AnswerBacklog
    let journal: Journal
    /// `nil` with PostgreSQL, which manages its files itself.
    private let storage: StorageWatch?
    private let observer: any LogObserver
    let bans: BanTable
    private let epoch: String
    let configuration: StoreConfiguration
    /// Called with queries that were answered or refused, before the observer learns of it.
    private let onAnswered: (@Sendable (ArraySlice<Query>) -> Void)?
    /// The access that other nodes have changed; `nil` with SQLite.
    private let access: AccessState?
    /// The reasons why threads cannot connect, by the thread's number.
    private let failures = Mutex<[Int: String]>([:])

    init(
        journal: Journal, bans: BanTable, storage: StorageWatch?, observer: any LogObserver, epoch: String,
        configuration: StoreConfiguration, access: AccessState? = nil,
        onAnswered: (@Sendable (ArraySlice<Query>) -> Void)? = nil
    ) {
        self.access = access
        self.onAnswered = onAnswered
        self.storage = storage
        self.journal = journal
        self.bans = bans
        self.observer = observer
        self.epoch = epoch
        self.configuration = configuration
        backlog = AnswerBacklog(limit: configuration.waitingAnswerBytes)
        queue = QueryQueue(
            ReadQueue.Limits(
                queries: configuration.queryQueue, queriesOfAsker: configuration.queriesOfAsker,
                longReaders: max(1, configuration.readers - 1)))
    }

    /// The number of waiting queries.
    var queued: Int { queue.count }

    /// The reason why nothing can be read, because no thread can connect; `nil` if at least one can.
    var failure: String? {
        failures.withLock { $0.count < max(1, configuration.readers) ? nil : $0.values.first }
    }

    func fetch(_ queries: [Query]) {
        refuse(queue.append(queries))
    }

    /// Removes queries whose answers are no longer wanted.
    func cancel(_ replies: [any PendingReply]) {
        queue.cancel(replies)
    }

    /// Refuses the waiting queries, and ends the threads.
    func close() {
        refuse(queue.close())
        backlog.close()
    }

    private func refuse(_ refusal: (queries: [Query], problem: Problem)) {
        if refusal.queries.isEmpty { return }
        for query in refusal.queries { query.reply.fail(refusal.problem) }
        observer.fetched(refusal.queries.map(\.reply))
    }

    // MARK: The threads

    /// Runs one thread, which answers queries with its own connection until the queue is closed.
    ///
    /// - Parameter number: The thread's number, from 0.
    func run(_ source: ReaderConnection.Source, number: Int) {
        var connection = ReaderConnection(source)
        var turn: ReadQueue.Turn?
        // So that an idle node knows if it could read.
        probe(&connection, number)
        while let next = queue.next(
            configuration.readBatch, done: turn,
            within: connection.isPostgres
                ? .milliseconds(
                    connection.failure == nil ? configuration.idleProbeInterval : configuration.probeInterval) : nil)
        {
            turn = next
            if next.queries.isEmpty { probe(&connection, number) }
            var rest = next.queries[...]
            while !rest.isEmpty {
                backlog.waitForRoom()
                let start = ContinuousClock.now
                let count = answer(rest, &connection)
                configuration.onRead?(ContinuousClock.now - start)
                onAnswered?(rest.prefix(count))
                observer.fetched(rest.prefix(count).map(\.reply))
                rest = rest.dropFirst(count)
            }
            note(connection.failure, of: number)
        }
        connection.close()
    }

    /// Connects to PostgreSQL, if there is no connection that is alive.
    private func probe(_ connection: inout ReaderConnection, _ number: Int) {
        guard connection.isPostgres else { return }
        // The error is in `failure`.
        try? connection.use { _ in }
        note(connection.failure, of: number)
    }

    /// Records why a thread cannot connect, and reports the first failure and the end of the last.
    private func note(_ failure: String?, of number: Int) {
        let (before, after) = failures.withLock { failures in
            defer { failures[number] = failure }
            let others = failures.filter { $0.key != number }
            return (failures.isEmpty, others.isEmpty && failure == nil)
        }
        if before != after { configuration.onReadingChange?(failure) }
    }

    /// Answers the first queries, at least one. Queries about rooms share a transaction; any other has its own.
    ///
    /// - Returns: The number of queries that were answered.
    private func answer(_ queries: ArraySlice<Query>, _ connection: inout ReaderConnection) -> Int {
        // The open file has been replaced or deleted, so its content is no longer the database's.
        if storage?.isLost == true { return fail(queries, .storageLost) }
        let query = queries.first!
        do {
            if let access, !access.term.isValid {
                // Only so does the node know all bans.
                try connection.use { try access.catchUp($0.access!) }
            }
            switch query.kind {
            case .room: return read(queries, &connection)
            case .ownRooms(let read, let patterns): try self.read(read, within: patterns, for: query, &connection)
            case .server(let read): try self.read(read, for: query, &connection)
            }
        } catch {
            query.reply.fail(Self.problem(error))
        }
        return 1
    }

    private func fail(_ queries: ArraySlice<Query>, _ problem: Problem) -> Int {
        for query in queries { query.reply.fail(problem) }
        return queries.count
    }

    /// Answers the first queries in one transaction: at least one, and more until the answers reach
    /// ``StoreConfiguration/readBytes``, a query fails, or the next one is not about a room.
    private func read(_ queries: ArraySlice<Query>, _ connection: inout ReaderConnection) -> Int {
        var count = 0
        let queries = queries.prefix { $0.room != nil }
        // Taken before the transaction begins, see Journal.
        let recent = journal.messages(of: queries.lazy.map { $0.room! })
        do {
            // With PostgreSQL most pages are read in one round trip, and then need no transaction.
            let pages =
                connection.isPostgres
                ? try connection.use { try $0.pages!.rooms(of: queries, within: configuration.answerBytes, $0) } : nil
            try transaction(&connection) { transaction in
                var bytes = 0
                if let pages { try transaction.runAhead(queries, pages) }
                for (query, recent) in zip(queries, recent) {
                    guard case .room(let id, let read) = query.kind else { return }
                    let page = pages?[count]
                    count += 1
                    do {
                        let size = try transaction.answer(read, of: id, recent, page, for: query)
                        if let share = backlog.hold(size) { query.reply.hold(share) }
                        bytes += size
                    } catch let refusal as Problem {
                        query.reply.fail(refusal)
                    } catch {
                        // The error may have ended the transaction, so the next query gets a new one.
                        query.reply.fail(Self.problem(error))
                        return
                    }
                    if bytes >= configuration.readBytes { return }
                }
            }
        } catch {
            // The transaction could not begin.
            return fail(queries, Self.problem(error))
        }
        return count
    }

    /// Answers a query of an admin about the whole server.
    private func read(_ read: Query.ServerRead, for query: Query, _ connection: inout ReaderConnection) throws {
        guard query.isAdmin else { throw Problem.notAnAdmin }
        try refuseBanned(query)
        // Taken before the transaction begins, see Journal.
        var recent: [RoomID: [RecentMessage]] = [:]
        switch read {
        case .rooms, .user:
            let rooms = journal.rooms
            for (room, messages) in zip(rooms, journal.messages(of: rooms)) where !messages.isEmpty {
                recent[room] = messages
            }
        case .erasure, .bans: break
        }
        try transaction(&connection) { try $0.answer(read, recent) }
    }

    /// Refuses a query about no single room by a user who is banned from the whole server.
    func refuseBanned(_ query: Query) throws(Problem) {
        if bans.isEmpty { return }
        if let refusal = bans.refusal(
            of: query.user, in: nil, isAdmin: query.isAdmin, for: .read, at: configuration.clock())
        {
            throw refusal
        }
    }

    func transaction(_ connection: inout ReaderConnection, _ body: (ReadTransaction) throws -> Void) throws {
        let deflater = connection.deflater
        try connection.use { statements in
            try statements.inTransaction {
                try body(
                    ReadTransaction(
                        statements: statements, epoch: epoch, deflater: deflater,
                        answerBytes: configuration.answerBytes, roomsByAdminsOnly: configuration.roomsByAdminsOnly,
                        bans: bans, clock: configuration.clock))
            }
        }
    }

    private static func problem(_ error: any Error) -> Problem {
        if let refusal = error as? Problem { return refusal }
        // PostgreSQL's reason may name hosts and users. It is in the server's log, because sends fail as well.
        if error is PostgresError { return .databaseUnavailable }
        let reason = (error as? SQLiteError)?.message ?? "\(error)"
        return .unavailable("The history could not be read: \(reason).")
    }
}
