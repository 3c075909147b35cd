import Chat
import GRDB
import Wire

/// The reading threads. They share a queue, and each answers several queries in one transaction.
final class LogReader: Sendable {
    private let queue: QueryQueue
    let recent: RecentMessages
    private let storage: StorageWatch
    private let observer: any LogObserver
    let bans: BanTable
    let clock: @Sendable () -> Timestamp
    let epoch: String
    private let batch: Int
    private let batchBytes: Int
    let answerBytes: Int
    let roomsByAdminsOnly: Bool
    private let onRead: (@Sendable (Duration) -> Void)?

    init(
        recent: RecentMessages, bans: BanTable, storage: StorageWatch, observer: any LogObserver, epoch: String,
        configuration: StoreConfiguration
    ) {
        self.storage = storage
        self.recent = recent
        self.bans = bans
        clock = configuration.clock
        self.observer = observer
        self.epoch = epoch
        batch = configuration.readBatch
        batchBytes = configuration.readBytes
        answerBytes = configuration.answerBytes
        roomsByAdminsOnly = configuration.roomsByAdminsOnly
        onRead = configuration.onRead
        queue = QueryQueue(
            ReadQueue.Limits(
                queries: configuration.queryQueue, queriesOfAsker: configuration.queriesOfAsker,
                longReaders: max(1, configuration.readers - 1)))
    }

    /// The number of waiting queries.
    var queued: Int { queue.count }

    /// Adds queries to the queue.
    func fetch(_ queries: [Query]) {
        refuse(queue.append(queries))
    }

    /// Removes queries whose answers are no longer wanted.
    func cancel(_ queries: [(ticket: Ticket, asker: Asker)]) {
        queue.cancel(queries)
    }

    /// Refuses the waiting queries, and ends the threads.
    func close() {
        refuse(queue.close())
    }

    private func refuse(_ refusal: (queries: [Query], problem: Problem)) {
        if refusal.queries.isEmpty { return }
        observer.fetched(refusal.queries.map { Answer(ticket: $0.ticket, result: .failure(refusal.problem)) })
    }

    // MARK: The threads

    /// Runs one thread, which answers queries with its own connection until the queue is closed.
    func run(_ database: DatabaseQueue) {
        var statements: ReaderStatements?
        let deflater = PushDeflater()
        var turn: ReadQueue.Turn?
        while let next = queue.next(batch, done: turn) {
            turn = next
            var rest = next.queries[...]
            while !rest.isEmpty {
                let start = ContinuousClock.now
                let answers = answer(rest, database, &statements, deflater)
                onRead?(ContinuousClock.now - start)
                rest = rest.dropFirst(answers.count)
                observer.fetched(answers)
            }
        }
        // SQLite does not close a connection that has statements.
        statements = nil
        try? database.close()
    }

    /// Answers the first queries, at least one. Queries about rooms share a transaction; a query about all rooms of a
    /// user has its own.
    private func answer(
        _ queries: ArraySlice<Query>, _ database: DatabaseQueue, _ statements: inout ReaderStatements?,
        _ deflater: PushDeflater
    ) -> [Answer] {
        // The open file has been replaced or deleted, so its content is no longer the database's.
        if storage.isLost { return queries.map { Answer(ticket: $0.ticket, result: .failure(.storageLost)) } }
        let ofRooms = queries.prefix { $0.room != nil }
        if !ofRooms.isEmpty { return read(ofRooms, database, &statements, deflater) }
        let query = queries.first!
        do {
            let result =
                switch query.kind {
                case .inbox, .memberships: try readRooms(query, database, &statements, deflater)
                default: try readServer(query, database, &statements, deflater)
                }
            return [Answer(ticket: query.ticket, result: result)]
        } catch {
            return [Answer(ticket: query.ticket, result: .failure(Self.problem(error)))]
        }
    }

    /// Answers the first queries in one transaction: at least one, and more until the answers reach `batchBytes` or a
    /// query fails.
    private func read(
        _ queries: ArraySlice<Query>, _ database: DatabaseQueue, _ statements: inout ReaderStatements?,
        _ deflater: PushDeflater
    ) -> [Answer] {
        var answers: [Answer] = []
        answers.reserveCapacity(queries.count)
        // Taken before the transaction begins, see RecentMessages.
        let recent = recent.messages(for: queries)
        do {
            try database.inDatabase { db in
                let prepared = try statements ?? ReaderStatements(db)
                statements = prepared
                let snapshot = snapshot(prepared, deflater)
                try prepared.inTransaction {
                    var bytes = 0
                    for (query, recent) in zip(queries, recent) {
                        do {
                            let result = try snapshot.result(query, recent)
                            answers.append(Answer(ticket: query.ticket, result: result))
                            if case .success(let content) = result { bytes += content.byteCount }
                        } catch {
                            // The error may have ended the transaction, so the next query gets a new one.
                            answers.append(Answer(ticket: query.ticket, result: .failure(Self.problem(error))))
                            return
                        }
                        if bytes >= batchBytes { break }
                    }
                }
            }
        } catch {
            // The transaction could not begin.
            return queries.map { Answer(ticket: $0.ticket, result: .failure(Self.problem(error))) }
        }
        return answers
    }

    /// Answers a query of an admin about the whole server.
    private func readServer(
        _ query: Query, _ database: DatabaseQueue, _ statements: inout ReaderStatements?, _ deflater: PushDeflater
    ) throws -> Result<Answer.Content, Problem> {
        guard query.isAdmin else { return .failure(.notAnAdmin) }
        if let refusal = refusalOfBanned(query) { return .failure(refusal) }
        let prepared = try database.inDatabase { db in try statements ?? ReaderStatements(db) }
        statements = prepared
        let snapshot = snapshot(prepared, deflater)
        // Taken before the transaction begins, see RecentMessages.
        var recent: [RoomID: [RecentMessage]] = [:]
        switch query.kind {
        case .allRooms, .user:
            let rooms = self.recent.rooms
            for (room, messages) in zip(rooms, self.recent.messages(ofAll: rooms)) where !messages.isEmpty {
                recent[room] = messages
            }
        default: break
        }
        return .success(
            try database.inDatabase { _ in
                try prepared.inTransaction { try snapshot.answer(ofServer: query, recent) }
            })
    }

    /// Returns the error of a query about no single room by a user who is banned from the whole server; `nil` if the
    /// user is not banned.
    func refusalOfBanned(_ query: Query) -> Problem? {
        if bans.isEmpty { return nil }
        return bans.refusal(of: query.user, in: nil, isAdmin: query.isAdmin, for: .read, at: clock())
    }

    /// Returns a snapshot, which answers queries in one transaction.
    func snapshot(_ statements: ReaderStatements, _ deflater: PushDeflater) -> Snapshot {
        Snapshot(
            statements: statements, epoch: epoch, deflater: deflater, answerBytes: answerBytes,
            roomsByAdminsOnly: roomsByAdminsOnly, bans: bans, clock: clock)
    }

    private static func problem(_ error: any Error) -> Problem {
        let reason = (error as? DatabaseError)?.message ?? "\(error)"
        return .unavailable("The history could not be read: \(reason).")
    }
}

extension Answer.Content {
    /// The number of bytes of messages in the answer.
    fileprivate var byteCount: Int {
        switch self {
        case .page(let page): page.messages.count
        case .message(let message): message?.body.count ?? 0
        case .changes(let changes): changes.messages.count
        case .replay(let replay): replay.frames.count
        case .state, .summary, .members, .inbox, .memberships, .bans, .erasure, .allRooms, .user: 0
        }
    }
}
