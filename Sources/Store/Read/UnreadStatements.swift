import GRDB
import Wire

/// A reader's statements for unread messages.
///
/// Confined to its connection.
final class UnreadStatements {
    /// The cache of runs without unread messages.
    var cleared = ClearedRuns()
    private let selectExpired: PreparedStatement
    private let selectMessages: PreparedStatement

    init(_ db: Database) throws {
        selectExpired = try PreparedStatement("SELECT seq FROM expired WHERE room = ?", db)
        // The end of a snapshot identifies a tombstone: no string can contain that text, and no object comes last. Only
        // the snapshots of changed messages are read.
        selectMessages = try PreparedStatement(
            """
            SELECT sender <> ? AND (changed IS NULL OR substr(body, -16) <> CAST(',"deleted":true}' AS BLOB))
            FROM messages WHERE id > ? AND id <= ? ORDER BY id
            """, db)
    }

    /// Returns the `seq` up to which a room's messages have expired; 0 if none have.
    func expired(in room: Int64) throws -> Int64 {
        try selectExpired.bind(room, at: 1)
        return try selectExpired.firstRow { $0.integer(0) } ?? 0
    }

    /// Passes `body`, for each message after `mark` in order, whether it counts as unread for a user, until it returns
    /// false.
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
