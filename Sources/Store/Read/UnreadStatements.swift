import GRDB
import Wire

/// A reader's statements about what users have not read.
///
/// Confined to its connection.
final class UnreadStatements {
    /// What has been looked through.
    var cleared = ClearedRuns()
    private let selectExpired: PreparedStatement
    private let selectMessages: PreparedStatement

    init(_ db: Database) throws {
        selectExpired = try PreparedStatement("SELECT seq FROM expired WHERE room = ?", db)
        // A tombstone is told by the end of its snapshot: no string can have that in it, and no object comes last. Only of
        // messages that were changed is the body looked at.
        selectMessages = try PreparedStatement(
            """
            SELECT sender <> ? AND (changed IS NULL OR substr(body, -16) <> CAST(',"deleted":true}' AS BLOB))
            FROM messages WHERE id > ? AND id <= ? ORDER BY id
            """, db)
    }

    /// Up to where the messages of a room have expired; 0 for none.
    func expired(in room: Int64) throws -> Int64 {
        try selectExpired.bind(room, at: 1)
        return try selectExpired.firstRow { $0.integer(0) } ?? 0
    }

    /// Says of each message after `mark`, in order, whether it is a user's to be read, until `body` answers `false`.
    func forEachMessage(
        room: Int64, after mark: Int64, for user: UserID, _ body: (Bool) -> Bool
    ) throws {
        try selectMessages.bind(user.string, at: 1)
        try selectMessages.bind(RowKey(room: room, mark).rawValue, at: 2)
        try selectMessages.bind(RowKey(room: room, RowKey.maximumPlace).rawValue, at: 3)
        try selectMessages.withRows { rows in
            while rows.hasRow {
                guard body(rows.row.integer(0) != 0) else { return }
                try rows.next()
            }
        }
    }
}
