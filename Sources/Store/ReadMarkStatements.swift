import GRDB
import Wire

/// The writer's statements about read marks.
///
/// Confined to its connection.
final class ReadMarkStatements {
    private let db: Database
    private let raise: PreparedStatement

    init(_ db: Database) throws {
        self.db = db
        raise = try PreparedStatement(
            """
            INSERT INTO read_marks (user, room, seq) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET seq = excluded.seq WHERE excluded.seq > seq
            """, db)
    }

    /// Moves a user's mark forward.
    ///
    /// - Returns: whether it has moved; it has not when it is there already, or further.
    func raise(to seq: Int64, for user: UserID, in room: Int64) throws -> Bool {
        try raise.bind(user.string, at: 1)
        try raise.bind(room, at: 2)
        try raise.bind(seq, at: 3)
        let before = db.totalChangesCount
        try raise.run()
        return db.totalChangesCount > before
    }
}
