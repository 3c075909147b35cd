import Chat
import Wire

/// The state that the writer keeps from one transaction to the next.
///
/// Confined to the writer's thread.
struct WriterState {
    private let db: Connection
    let configuration: StoreConfiguration
    // Prepared when they are first needed. This may fail, and succeed later.
    private var statements: WriterStatements?
    private var rooms: RoomTable
    let journal: Journal
    /// The rooms that take no changes because their rows are damaged, see ``RowFailure``.
    private(set) var aside: Set<RoomID> = []
    /// True if the last commit failed because of damage that concerns more than one room.
    var isDamaged = false
    /// The first failure of a sync; `nil` if none has failed. Nothing is written after one.
    ///
    /// Linux drops what a failed sync should have brought to the disk, although reads still return it, and the next sync
    /// succeeds. A checkpoint may have copied pages of the write-ahead log that were dropped so, and SQLite would not copy
    /// them again before it overwrites the log. So the log is kept as it is until the database is opened again, see
    /// ``LogRewrite``.
    private(set) var failedSync: SQLiteError?
    var jobs: Jobs
    /// The schedule of message expiry; `nil` if messages do not expire.
    var expiry: Expiry?
    private let filter: ClientMessageFilter
    private let bans: BanTable
    /// The users who are being erased.
    private var erasing: Set<UserID> = []
    /// The access that other nodes have changed; `nil` with SQLite, which has one node.
    private let access: AccessState?
    private var accessStatements: AccessStatements?

    init(
        _ db: Connection, _ journal: Journal, _ bans: BanTable, access: AccessState? = nil,
        _ configuration: StoreConfiguration
    ) {
        self.access = access
        self.db = db
        self.bans = bans
        self.configuration = configuration
        self.journal = journal
        rooms = RoomTable(limit: configuration.cachedRooms)
        filter = ClientMessageFilter(bytes: journal.limits.filterBytes)
        jobs = Jobs(retry: .milliseconds(configuration.jobRetry), at: .now)
        expiry = configuration.expiryLimits.map { Expiry($0, at: .now) }
        // If the jobs cannot be read, the first commit reports that. With several nodes one of them does all jobs.
        if access == nil, let unfinished = try? prepared().jobs.all() { add(unfinished) }
    }

    /// The statements, prepared once.
    mutating func prepared() throws -> WriterStatements {
        if let statements { return statements }
        let new = try WriterStatements(db)
        erasing = try new.erasures.unfinished()
        statements = new
        return new
    }

    private mutating func add(_ new: [Job]) {
        if new.isEmpty || access != nil { return }
        var new = new
        for index in new.indices { new[index].journalRow = journal.nextRow }
        jobs.add(new)
    }

    /// Sets a room aside. Its messages stay in the journal, and are filed when the log is opened again.
    ///
    /// - Returns: false, with nothing changed, if there would be too many such rooms or too many bytes.
    /// - Throws: `DatabaseError`, with nothing changed.
    mutating func setAside(_ room: RoomID) throws -> Bool {
        do {
            guard aside.count < journal.limits.asideRooms, try journal.setAside(room, prepared()) else { return false }
        } catch {
            note(error)
            throw error
        }
        aside.insert(room)
        return true
    }

    /// Makes one transaction: files messages, and then does what `body` does.
    ///
    /// - Parameters:
    ///   - submissions: Maximum number of submissions that `body` applies.
    ///   - rooms: The rooms that `body` may change. PostgreSQL locks them first.
    ///   - confirm: Called if the connection was lost in the commit, with the number of the transaction. Returns true if
    ///     it is durable, false if it was rolled back, and `nil` if that is not known.
    /// - Throws: ``RowFailure``, `DatabaseError` or ``PostgresError``, with nothing changed; ``UnknownCommit``.
    mutating func transact(
        filing: Journal.Filing = .none, submissions: Int = 0, locking lockedRooms: [RoomID] = [],
        confirming confirm: (String) -> Bool? = { _ in nil },
        _ body: (inout Commit) throws -> Void
    ) throws -> Commit {
        if let failedSync { throw failedSync }
        let statements = try prepared()
        let time = try catchUp(statements) ?? configuration.clock()
        // Taken out while it changes, and put back only if the transaction succeeds.
        let rooms = rooms
        self.rooms = RoomTable(limit: configuration.cachedRooms)
        let part = JournalTransaction(journal, filter, filing: filing, appending: submissions, at: time, statements)
        var commit = Commit(
            statements, rooms: rooms, journal: part, bans: bans, erasing: erasing, aside: aside,
            submissions: submissions, at: time, configuration)
        let erasingBefore = erasing
        do {
            try statements.transaction(locking: lockedRooms) {
                try commit.journal.begin()
                try body(&commit)
                try commit.journal.write()
                if statements.storesProgress {
                    for batch in commit.batches { try statements.store(commit.rooms[batch.room]!) }
                }
                if let access, let events = statements.events {
                    let event = AccessEvent(commit, erasing: erasingBefore)
                    if !event.changes.isEmpty {
                        statements.transactionNumber = try events.append(event, of: access.node, at: time)
                    }
                }
            }
        } catch let error as UnknownCommit {
            // Done again, the changes could be refused because they are done already.
            guard let transaction = error.transaction, let isDurable = confirm(transaction) else { throw error }
            guard isDurable else { throw error.cause }
        } catch {
            note(error)
            throw error
        }
        commit.bans.apply(at: commit.time)
        erasing = commit.erasing
        self.rooms = commit.takeRooms()
        self.rooms.keepWithinLimit()
        commit.journal.committed()
        add(commit.jobs)
        return commit
    }

    /// Remembers a failed sync.
    mutating func note(_ error: any Error) {
        guard let error = error as? SQLiteError ?? (error as? RowFailure)?.cause, error.isFailedSync else { return }
        if failedSync == nil { failedSync = error }
    }

    /// Returns the time of the database, or of the configuration's clock.
    mutating func time() throws -> Timestamp {
        guard configuration.usesDatabaseClock, let server = try prepared().server() else {
            return configuration.clock()
        }
        return server.time
    }

    /// Reads the changes of access by other nodes.
    ///
    /// - Returns: The time of the database; `nil` to use the configuration's clock.
    private mutating func catchUp(_ statements: WriterStatements) throws -> Timestamp? {
        let start = ContinuousClock.now
        guard let access, let server = try statements.server() else { return nil }
        if server.events != access.event {
            guard case .postgres(let connection) = db else { return nil }
            let reading = try accessStatements ?? AccessStatements(connection)
            accessStatements = reading
            try access.catchUp(reading)
        } else {
            access.isCurrent(at: start)
        }
        erasing = access.erasing
        return configuration.usesDatabaseClock ? server.time : nil
    }
}
