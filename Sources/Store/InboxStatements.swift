import GRDB
import Wire

/// A reader's statements about the rooms that a user is a member of.
///
/// Confined to its connection.
final class InboxStatements {
    private let selectRooms: PreparedStatement
    private let selectActivity: PreparedStatement

    init(_ db: Database) throws {
        selectRooms = try PreparedStatement(
            """
            SELECT rooms.id, name FROM members JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0
            WHERE members.user = ?
            """, db)
        // For each room one search for its newest message, whatever the room's size: the columns are NULL, which reads as
        // 0, when it has none, and when it is not known when it was made.
        selectActivity = try PreparedStatement(
            """
            SELECT rooms.id, (
                SELECT messages.created_at FROM messages
                WHERE messages.id > (members.room << 36) AND messages.id <= ((members.room << 36) | \(RowKey.maximumPlace))
                ORDER BY messages.id DESC LIMIT 1
            ), rooms.created_at
            FROM members JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0 WHERE members.user = ?
            """, db)
    }

    /// Hands over the number and the id of each room that a user is a member of, in no order.
    func forEachRoom(of user: UserID, _ body: (Int64, RoomID) -> Void) throws {
        try selectRooms.bind(user.string, at: 1)
        try selectRooms.forEachRow { row in
            body(row.integer(0), RoomID(trusted: row.text(1)))
        }
    }

    /// Hands over the number of each room that a user is a member of, when its newest message among the rows was stored,
    /// and when it was made: in no order, in milliseconds since 1970, and 0 if there is none or it is not known.
    func forEachActivity(of user: UserID, _ body: (_ room: Int64, _ newest: Int64, _ made: Int64) -> Void) throws {
        try selectActivity.bind(user.string, at: 1)
        try selectActivity.forEachRow { body($0.integer(0), $0.integer(1), $0.integer(2)) }
    }
}
