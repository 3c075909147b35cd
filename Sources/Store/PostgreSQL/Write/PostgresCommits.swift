import Chat
import Nodes
import Wire

/// Ordinary transactions on a connection to PostgreSQL, which load facts, decide and write.
///
/// No messages and no rooms are kept from one transaction to the next, because other nodes change them too.
///
/// Confined to the connection's thread.
struct PostgresCommits: CommitMaker {
    let db: PostgresConnection
    let access: AccessState
    let configuration: StoreConfiguration
    // Read when it is first needed. This may fail, and succeed later.
    private var fingerprinter: Fingerprinter?
    var jobs: Jobs
    var expiry: Expiry

    init(_ db: PostgresConnection, _ access: AccessState, _ configuration: StoreConfiguration) {
        self.db = db
        self.access = access
        self.configuration = configuration
        jobs = Jobs(retry: .milliseconds(configuration.jobRetry), at: .now)
        expiry = Expiry(configuration.expiryLimits, at: .now)
    }

    mutating func transact(
        _ body: (inout Commit<PostgresCommitStore>) throws -> Void
    ) throws -> Commit<PostgresCommitStore> {
        try transact(submissions: 0, locking: [], confirming: { _, _ in nil }, body)
    }

    /// Makes one transaction.
    ///
    /// - Parameters:
    ///   - submissions: Maximum number of submissions that `body` applies.
    ///   - rooms: The rooms that `body` may change, which are locked first.
    ///   - confirm: Called if the connection was lost in the commit, with the number of the transaction, and a time of the
    ///     database before it began. Returns true if it is durable, false if it was rolled back, and `nil` if that is not known.
    /// - Throws: ``PostgresError``, with nothing changed; ``UnknownCommit``.
    mutating func transact(
        submissions: Int, locking rooms: [RoomID], confirming confirm: (String, Timestamp) -> Bool?,
        _ body: (inout Commit<PostgresCommitStore>) throws -> Void
    ) throws -> Commit<PostgresCommitStore> {
        let fingerprinter = try fingerprinter ?? Fingerprinter(db)
        self.fingerprinter = fingerprinter
        let (time, begun, eventKinds) = try catchUp()
        // Read before the bans, which are then at least as new.
        let revocations = access.revocations
        let erasing = access.erasing
        var commit = Commit(
            PostgresCommitStore(db), rooms: RoomTable(limit: 0), bans: access.bans, erasing: erasing,
            events: eventKinds, submissions: submissions, at: time, fingerprinter, configuration)
        do {
            try transaction(locking: rooms, knowing: revocations) {
                try body(&commit)
                for batch in commit.batches { try commit.store.storeProgress(of: commit.rooms[batch.room]!) }
                try commit.store.raiseAccess(of: commit.restricted)
                let event = AccessEvent(
                    memberships: commit.memberships, ends: commit.ends, bans: commit.bans.changes.keys,
                    erased: erasing.subtracting(commit.erasing), restricted: commit.restricted)
                let number = event.changes.isEmpty ? nil : try db.append(event, of: access.node, at: time)
                if !commit.events.isEmpty {
                    // Waits for an admin who changes webhooks.
                    try db.runSoon("LOCK TABLE rooms IN ROW EXCLUSIVE MODE")
                    try commit.storeEvents(for: try db.webhooks())
                }
                return number
            }
        } catch let error as UnknownCommit {
            // Done again, the changes could be refused because they are done already.
            guard let transaction = error.transaction, let isDurable = confirm(transaction, begun) else { throw error }
            guard isDurable else { throw error.cause }
        }
        commit.bans.apply(at: commit.time)
        return commit
    }

    /// Runs `body` in a transaction, which is rolled back if it throws.
    ///
    /// - Parameters:
    ///   - rooms: The rooms that are locked first.
    ///   - revocations: The number of revocations that the node knew before.
    ///   - body: Returns the number of the transaction; `nil` if it does not know it.
    /// - Throws: ``UnknownCommit`` if the connection was lost in the commit.
    private func transaction(locking rooms: [RoomID], knowing revocations: Int64, _ body: () throws -> String?) throws {
        try db.runSoon("BEGIN")
        do {
            let locked = try lock(rooms)
            let number = try body()
            // A ban may have been committed during the wait for a lock. The decisions do not know it.
            if let result = locked.result, result.integer(0, 1) != revocations { throw PostgresError.outdated }
            let transaction = number ?? locked.result.flatMap { $0.isNull(0, 0) ? nil : $0.text(0, 0) }
            do throws(PostgresError) {
                try db.run("COMMIT")
            } catch {
                throw error.kind == .connection ? UnknownCommit(cause: error, transaction: transaction) : error
            }
        } catch {
            if db.isInTransaction { _ = try? db.run("ROLLBACK") }
            throw error
        }
    }

    /// Locks rooms, in a fixed order, so that two transactions do not wait for each other. First the names of rooms that
    /// do not exist, which have no rows to lock, in the order of their hashes; then the others, in the order of their
    /// numbers.
    ///
    /// - Returns: An answer that the connection's next statement fills in: with the number of the transaction, NULL if it
    ///   has locked no row, and the number of revocations after the rooms were locked. Without rooms it stays empty.
    private func lock(_ rooms: [RoomID]) throws -> PostgresConnection.Answer {
        let number = PostgresConnection.Answer()
        if rooms.isEmpty { return number }
        for text in [
            """
            SELECT pg_advisory_xact_lock(key) FROM (
                SELECT DISTINCT hashtextextended(name, 0) AS key FROM unnest(CAST($1 AS text[])) AS name
                WHERE NOT EXISTS (SELECT 1 FROM rooms WHERE rooms.name = name.name) ORDER BY key OFFSET 0
            ) AS missing
            """,
            "SELECT 1 FROM rooms WHERE name = ANY($1) ORDER BY id FOR UPDATE",
        ] {
            try db.runSoon(text, rooms)
        }
        try db.prepare(
            "SELECT pg_current_xact_id_if_assigned()::text, revocations FROM server", isLong: false
        ).runSoon(for: number)
        return number
    }

    // MARK: Other nodes

    /// Reads the changes of access by other nodes.
    ///
    /// - Returns: The time for the commit, that of the database, and the kinds of events that webhooks get.
    private func catchUp() throws -> (time: Timestamp, databaseTime: Timestamp, eventKinds: Set<WebhookEvent>) {
        let start = ContinuousClock.now
        let server = try server()
        if server.events != access.event { try access.catchUp(db) } else { access.isCurrent(at: start) }
        return (configuration.usesDatabaseClock ? server.time : configuration.clock(), server.time, server.eventKinds)
    }

    /// Returns the time of the database, or of the configuration's clock.
    func time() throws -> Timestamp {
        configuration.usesDatabaseClock ? try server().time : configuration.clock()
    }

    /// Returns the number of changes of access in the database, its time, and the kinds of events that webhooks get.
    private func server() throws -> (events: Int64, time: Timestamp, eventKinds: Set<WebhookEvent>) {
        // The schema makes the row.
        try db.first(
            """
            SELECT events, (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
                (SELECT string_agg(events, ' ') FROM webhooks)
            FROM server
            """
        ) { row in
            let kinds =
                row.isNull(2) ? [] : row.text(2).split(separator: " ").compactMap { WebhookEvent(rawValue: String($0)) }
            return (row.integer(0), Timestamp(milliseconds: row.integer(1)), Set(kinds))
        }!
    }

    // MARK: Jobs and expiry

    func makeReady(for job: Job) -> Bool { false }

    /// Returns the time of the database, and the number of days of the node that keeps messages longest. There may be no
    /// limit, although this node has one.
    func keepTime() throws -> Expiry.KeepTime {
        var keepTime = try db.first(Retention.select) {
            Expiry.KeepTime(now: Timestamp(milliseconds: $0.integer(0)), days: $0.isNull(1) ? nil : $0.integer(1))
        }!
        if !configuration.usesDatabaseClock { keepTime.now = configuration.clock() }
        return keepTime
    }

    func expiryRooms(after room: Int64, most: Int, ofAll: Bool) throws -> [Expiry.Room] {
        // With the times, which would otherwise be a round trip for each room.
        try db.all(
            """
            SELECT rooms.id, rooms.name, coalesce(expired.seq, 0), keep_days, (SELECT created_at FROM messages
                WHERE messages.id = (rooms.id << \(RowKey.ordinalBits)) + coalesce(expired.seq, 0) + 1)
            FROM rooms LEFT JOIN expired ON expired.room = rooms.id
            WHERE rooms.id > $1 AND rooms.deleted = 0\(ofAll ? "" : " AND keep_days IS NOT NULL")
            ORDER BY rooms.id LIMIT $2
            """, room, most
        ) { row in
            Expiry.Room(
                number: row.integer(0), room: RoomID(trusted: row.text(1)), mark: row.integer(2),
                keepDays: row.isNull(3) ? nil : row.integer(3), oldest: row.isNull(4) ? nil : row.integer(4))
        }
    }

    func isDue(_ room: Expiry.Room, before cutoff: Timestamp) -> Bool {
        room.oldest.map { $0 < cutoff.milliseconds } ?? false
    }
}

/// The loss of the connection during a commit. It is unknown if the commit is durable.
struct UnknownCommit: Error {
    let cause: PostgresError
    /// The number of the transaction in PostgreSQL, which can tell later what became of it; `nil` if it is not known.
    var transaction: String?
    /// The submissions that may have been stored; `nil` for all.
    var tickets: Set<Ticket>?
}
