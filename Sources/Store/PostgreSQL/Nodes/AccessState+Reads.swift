import Chat
import Nodes
import Wire

/// Reads of bans, erasures and events of access.
extension AccessState {
    /// Reads all bans and erasures.
    func load(_ db: PostgresConnection) throws {
        let (start, known) = (ContinuousClock.now, known)
        let found = try db.inSnapshot {
            let (event, revocations) = try db.accessProgress()
            return try db.everything(at: event, revocations, clock())
        }
        _ = apply(found, after: known, from: start)
    }

    /// Reads the events that are new, applies their bans and erasures, and tells the feeds those of other nodes.
    ///
    /// If events are missing, because they are deleted after ``PostgresCaretaker/eventTime``, all bans and erasures are
    /// read again, and all subscriptions end.
    ///
    /// - Throws: ``PostgresError``.
    func catchUp(_ db: PostgresConnection) throws {
        var isApplied = false
        while !isApplied {
            let (start, known) = (ContinuousClock.now, known)
            let found = try db.inSnapshot {
                let (latest, revocations) = try db.accessProgress()
                if latest == known.event { return Found.nothing }
                let stored = try db.events(after: known.event)
                guard Int64(stored.count) == latest - known.event else {
                    return try db.everything(at: latest, revocations, clock())
                }
                return .events(stored, upTo: latest, revocations: revocations)
            }
            isApplied = apply(found, after: known, from: start)
        }
    }
}

/// Statements about changes of access.
extension PostgresConnection {
    fileprivate func inSnapshot<R>(_ body: () throws -> R) throws -> R {
        try runSoon("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            if isInTransaction { _ = try? run("ROLLBACK") }
            throw error
        }
    }

    fileprivate func accessProgress() throws -> (events: Int64, revocations: Int64) {
        try first("SELECT events, revocations FROM server") { ($0.integer(0), $0.integer(1)) } ?? (0, 0)
    }

    fileprivate func everything(
        at event: Int64, _ revocations: Int64, _ time: Timestamp
    ) throws -> AccessState.Found {
        let erasing = try unfinishedErasures()
        return .everything(
            bans: try BanTable.stored(self, at: time), erasing: erasing, event: event, revocations: revocations)
    }

    fileprivate func events(after first: Int64) throws -> [AccessState.Stored] {
        var stored = try all("SELECT id, node, payload FROM events WHERE id > $1 ORDER BY id", first) { row in
            AccessState.Stored(
                id: row.integer(0), node: row.text(1), event: AccessEvent(text: row.text(2)), bans: [:])
        }
        for index in stored.indices {
            for case .ban(let user, let room) in stored[index].event.changes {
                let number = try room.map { try row(of: $0, locking: false)?.number } ?? RowKey.server
                // Also one that has ended by this node's clock, which may be ahead, or be set back.
                let ban = try number.flatMap { try self.ban(of: user, from: $0, at: .earliest) }
                stored[index].bans[BanTable.Key(room: room, user: user)] = .some(ban)
            }
        }
        return stored
    }

    /// Appends an event of a node. It locks the row of `server` until the end of the transaction, which must change no
    /// other row afterwards.
    ///
    /// - Returns: The number of the transaction.
    func append(_ event: AccessEvent, of node: String, at time: Timestamp) throws -> String {
        // The schema makes the row.
        let (id, transaction) = try first(
            """
            UPDATE server SET events = events + 1, revocations = revocations + $1
            RETURNING events, pg_current_xact_id()::text
            """, event.isRevocation
        ) { ($0.integer(0), $0.text(1)) }!
        try runSoon(
            "INSERT INTO events (id, node, revocation, payload, at) VALUES ($1, $2, $3, $4, $5)", id, node,
            event.isRevocation, event.text, time)
        return transaction
    }
}
