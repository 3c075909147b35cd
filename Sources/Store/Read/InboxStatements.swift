import GRDB
import Wire

/// A reader's statements about the rooms that a user is a member of.
///
/// Confined to its connection.
final class InboxStatements {
    private let selectRooms: PreparedStatement
    private let selectActivities: PreparedStatement
    private let selectActivity: PreparedStatement
    private let selectUnknown: PreparedStatement
    private let selectIndexed: PreparedStatement
    private let selectMembership: PreparedStatement
    private let selectFill: PreparedStatement
    private let count: PreparedStatement

    /// A membership with the activity of its room, in milliseconds since 1970.
    struct Row {
        /// The room's number.
        var number: Int64
        /// The time when the newest message among the rows was stored, or else the room was made; 0 if neither is
        /// known.
        var activity: Int64
        /// True when the user has sent to the room, read it, made it or joined it.
        var isEngaged: Bool
    }

    init(_ db: Database) throws {
        // For each room one search for its newest message, whatever the room's size: NULL when it has none, and when it is
        // not known when it was made.
        let activity = """
            ifnull((
                SELECT messages.created_at FROM messages
                WHERE messages.id > (members.room << 36) AND messages.id <= ((members.room << 36) | \(RowKey.maximumPlace))
                ORDER BY messages.id DESC LIMIT 1
            ), rooms.created_at)
            """
        // Deleted rooms are nobody's; their memberships are removed in parts.
        let rooms = "JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0"
        selectRooms = try PreparedStatement(
            "SELECT rooms.id, name FROM members \(rooms) WHERE members.user = ?", db)
        selectActivities = try PreparedStatement(
            "SELECT rooms.id, \(activity), engaged FROM members \(rooms) WHERE members.user = ?", db)
        selectActivity = try PreparedStatement(
            "SELECT rooms.id, \(activity), engaged FROM members \(rooms) WHERE members.room = ? AND members.user = ?",
            db)
        selectUnknown = try PreparedStatement(
            """
            SELECT rooms.id, \(activity), engaged, name FROM members INDEXED BY members_by_activity CROSS \(rooms)
            WHERE members.user = ? AND engaged IN (0, 1) AND activity = \(ActivityStatements.unknown)
            """, db)
        selectIndexed = try PreparedStatement(
            """
            SELECT rooms.id, activity, engaged, name FROM members INDEXED BY members_by_activity CROSS \(rooms)
            WHERE members.user = ? AND engaged = ? AND activity <= ? AND activity < \(ActivityStatements.unknown)
            ORDER BY activity DESC
            """, db)
        selectMembership = try PreparedStatement(
            """
            SELECT rooms.id FROM rooms CROSS JOIN members ON members.room = rooms.id AND members.user = ?2
            WHERE rooms.name = ?1 AND rooms.deleted = 0
            """, db)
        selectFill = try PreparedStatement("SELECT 1 FROM meta WHERE key = '\(Schema.activityFill)'", db)
        count = try PreparedStatement("SELECT count(*) FROM (SELECT 1 FROM members WHERE user = ? LIMIT ?)", db)
    }

    // MARK: All rooms

    /// Hands over the number and the id of each room that a user is a member of, in no order.
    func forEachRoom(of user: UserID, _ body: (Int64, RoomID) -> Void) throws {
        try selectRooms.bind(user.string, at: 1)
        try selectRooms.forEachRow { row in
            body(row.integer(0), RoomID(trusted: row.text(1)))
        }
    }

    /// Hands over each room that a user is a member of, in no order.
    func forEachActivity(of user: UserID, _ body: (Row) -> Void) throws {
        try selectActivities.bind(user.string, at: 1)
        try selectActivities.forEachRow { body(Row($0)) }
    }

    // MARK: In the order of their activity

    /// True when all memberships of the database have been filled in, see ``ActivityStatements``.
    func isIndexed() throws -> Bool {
        try selectFill.firstRow { _ in true } == nil
    }

    /// The number of rooms that a user is a member of; `most` stands for more, too.
    func count(of user: UserID, most: Int) throws -> Int {
        try count.bind(user.string, at: 1)
        try count.bind(Int64(most), at: 2)
        return try count.firstRow { Int($0.integer(0)) } ?? 0
    }

    /// The number of a room if a user is a member of it.
    func number(of room: RoomID, for user: UserID) throws -> Int64? {
        try selectMembership.bind(room.string, at: 1)
        try selectMembership.bind(user.string, at: 2)
        return try selectMembership.firstRow { $0.integer(0) }
    }

    /// One room, if a user is a member of it.
    func activity(of user: UserID, in room: Int64) throws -> Row? {
        try selectActivity.bind(room, at: 1)
        try selectActivity.bind(user.string, at: 2)
        return try selectActivity.firstRow { Row($0) }
    }

    /// Hands over the rooms whose activity is not in the index, because they have many members.
    func forEachUnknown(of user: UserID, _ body: (Row, RoomID) -> Void) throws {
        try selectUnknown.bind(user.string, at: 1)
        try selectUnknown.forEachRow { body(Row($0), RoomID(trusted: $0.text(3))) }
    }

    /// Hands over the other rooms, latest activity first, beginning with `time`, until `body` answers `false`.
    func forEachIndexed(
        of user: UserID, isEngaged: Bool, from time: Int64, _ body: (Row, RoomID) -> Bool
    ) throws {
        try selectIndexed.bind(user.string, at: 1)
        try selectIndexed.bind(isEngaged ? 1 : 0, at: 2)
        try selectIndexed.bind(time, at: 3)
        try selectIndexed.withRows { rows in
            while rows.hasRow {
                guard body(Row(rows.row), RoomID(trusted: rows.row.text(3))) else { return }
                try rows.next()
            }
        }
    }
}

extension InboxStatements.Row {
    fileprivate init(_ row: borrowing PreparedStatement.Row) {
        self.init(number: row.integer(0), activity: row.integer(1), isEngaged: row.integer(2) != 0)
    }
}
