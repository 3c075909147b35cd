import Wire

/// Statements about rooms that are SQLite's own: a room's progress follows from its messages.
extension SQLiteConnection {
    func row(of room: RoomID, locking: Bool) throws -> RoomRow? {
        try first("SELECT \(RoomRow.columns) FROM rooms WHERE name = $1", room) { RoomRow($0) }
    }

    /// Does nothing: there is one writer.
    func lockProfile(of user: UserID) {}

    /// Returns a room's progress. The last message has the highest `seq`. The highest revision is that of the last
    /// message or of the latest change.
    func progress(of room: Int64) throws -> RoomProgress {
        let (low, high) = (RowKey(room: room, 0), RowKey(room: room, RowKey.maximumOrdinal))
        let newest = try first(
            "SELECT id, rev, created_at FROM messages WHERE id > $1 AND id <= $2 ORDER BY id DESC LIMIT 1", low, high
        ) { RoomProgress(head: RowKey(rawValue: $0.integer(0)).ordinal, rev: $0.integer(1), latest: $0.integer(2)) }
        guard var progress = newest else { return RoomProgress() }
        let change = try first(
            "SELECT changed FROM messages WHERE changed > $1 AND changed <= $2 ORDER BY changed DESC LIMIT 1", low, high
        ) { RowKey(rawValue: $0.integer(0)).ordinal }
        progress.rev = max(progress.rev, change ?? 0)
        return progress
    }

    func hasTable(_ name: String) throws -> Bool {
        try has("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = $1", name)
    }

    static func damage(_ reason: String) -> any Error { SQLiteError.damage(reason) }

    /// Passes `body` the hash of each client message id of a room's filed messages, see ``ClientMessageKey/hash(in:)``.
    func forEachClientMessageKey(of room: Int64, _ body: (UInt64) -> Void) throws {
        // This query reads the index only.
        try forEach(
            "SELECT sender, client_message_id FROM messages WHERE id >> 36 = $1 AND client_message_id IS NOT NULL", room
        ) { row in
            row.withBytes(0) { sender in
                row.withBytes(1) { id in
                    body(ClientMessageKey.hash(ClientMessageKey.hash(sender: sender, id: id), in: room))
                }
            }
        }
    }
}
