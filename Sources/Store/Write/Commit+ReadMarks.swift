import Chat
import Wire

/// Moving read marks.
extension Commit {
    /// Moves a user's read mark forward to `seq`, or to the head if that is less.
    func read(to seq: Int64, in room: RoomTable.Room?, by user: UserID) throws -> Result<Receipt, Problem> {
        // A read mark does not create a room.
        guard let room else { return .success(.readMark(seq: 0, hasMoved: false)) }
        let seq = min(seq, room.head)
        if seq > 0, try statements.marks.raise(to: seq, for: user, in: room.number) {
            try statements.activity.engage(user, in: room.number)
            return .success(.readMark(seq: seq, hasMoved: true))
        }
        return .success(.readMark(seq: try statements.lookup.readMark(of: user, in: room.number), hasMoved: false))
    }
}

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

    /// Moves a user's mark forward.
    ///
    /// - Returns: false if it is there already, or further.
    func raise(to seq: Int64, for user: UserID, in room: Int64) throws -> Bool {
        try raise.bind(user.string, at: 1)
        try raise.bind(room, at: 2)
        try raise.bind(seq, at: 3)
        return try raise.runCounting() > 0
    }
}
