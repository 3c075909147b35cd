import Wire

/// Statements about rooms that are PostgreSQL's own: a room's row has its progress, and its lock orders the commits of
/// all nodes.
extension PostgresConnection {
    func row(of room: RoomID, locking: Bool) throws -> RoomRow? {
        try first(
            """
            SELECT \(RoomRow.columns), head, rev, active_at FROM rooms WHERE name = $1\(locking ? " FOR UPDATE" : "")
            """, room
        ) { row in
            var found = RoomRow(row)
            let next = RoomRow.columnCount
            found.progress = RoomProgress(
                head: row.integer(next), rev: row.integer(next + 1), latest: row.integer(next + 2))
            return found
        }
    }

    func progress(of room: Int64) throws -> RoomProgress {
        try first("SELECT head, rev, active_at FROM rooms WHERE id = $1", room) { row in
            RoomProgress(head: row.integer(0), rev: row.integer(1), latest: row.integer(2))
        } ?? RoomProgress()
    }

    func lockProfile(of user: UserID) throws {
        // The names of rooms, which are locked in the same way, have no spaces.
        _ = try first("SELECT pg_advisory_xact_lock(hashtextextended('profile ' || $1, 0))", user) { _ in }
    }

    /// Runs a statement whose parameter is an array of rooms, see ``PostgresStatement/runSoon()``.
    func runSoon(_ sql: String, _ rooms: [RoomID]) throws {
        let statement = prepare(sql, isLong: false)
        statement.bind(rooms.map { $0.string as String? }, at: 1)
        try statement.runSoon()
    }

    func hasTable(_ name: String) throws -> Bool {
        try first("SELECT to_regclass($1) IS NOT NULL", name) { $0.integer(0) == 1 } ?? false
    }

    static func damage(_ reason: String) -> any Error { StoreError.postgres(reason) }
}
