import Wire

/// The writer's statements for read marks.
///
/// Confined to its connection.
final class ReadMarkStatements {
    private let raise: PreparedStatement

    init(_ db: Connection) throws {
        raise = try PreparedStatement(
            """
            INSERT INTO read_marks (user, room, seq) VALUES (?, ?, ?)
            ON CONFLICT (user, room) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > read_marks.seq
            """, db)
    }

    /// Moves a user's mark forward. Does nothing if it is there already, or further.
    func raise(to seq: Int64, for user: UserID, in room: Int64) throws {
        try raise.bind(user.string, at: 1)
        try raise.bind(room, at: 2)
        try raise.bind(seq, at: 3)
        try raise.runSoon()
    }
}
