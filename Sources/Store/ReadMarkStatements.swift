import GRDB
import Wire

/// The writer's statements about read marks.
///
/// Confined to its connection.
final class ReadMarkStatements {
    private let db: Database
    private let select: PreparedStatement
    private let raise: PreparedStatement

    init(_ db: Database) throws {
        self.db = db
        select = try PreparedStatement("SELECT seq FROM read_marks WHERE user = ? AND room = ?", db)
        raise = try PreparedStatement(
            """
            INSERT INTO read_marks (user, room, seq) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET seq = excluded.seq WHERE excluded.seq > seq
            """, db)
    }

    /// Up to where a user has read a room; 0 for nothing.
    func mark(of user: UserID, in room: Int64) throws -> Int64 {
        try select.bind(user.string, at: 1)
        try select.bind(room, at: 2)
        return try select.firstRow { $0.integer(0) } ?? 0
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
