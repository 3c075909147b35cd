import Wire

/// SQLite's statements for the rooms that a user is a member of.
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

    /// A membership and its room's activity.
    struct Row {
        /// The room's number.
        var number: Int64
        /// The time of the newest filed message in milliseconds since 1970, or else of the room's creation; 0 if
        /// neither is known.
        var activity: Int64
        /// True if the user has sent to the room, read it, created it or joined it.
        var isEngaged: Bool
    }

    init(_ db: Connection) throws {
        // One search per room finds its newest message, whatever the room's size. The result is NULL if the room has
        // none and its creation time is unknown.
        let activity = """
            ifnull((
                SELECT messages.created_at FROM messages
                WHERE messages.id > (members.room << 36)
                    AND messages.id <= ((members.room << 36) | \(RowKey.maximumPlace))
                ORDER BY messages.id DESC LIMIT 1
            ), rooms.created_at)
            """
        // Deleted rooms have no members; a job removes their rows in parts.
        let rooms = "JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0"
        // The user, unless the membership is that of an erased user of this name.
        func isOf(_ user: String) -> String {
            "members.user = \(user) AND \(ErasureStatements.isPresent(user, in: "members.room"))"
        }
        selectRooms = try PreparedStatement(
            "SELECT rooms.id, name FROM members \(rooms) WHERE \(isOf("?1"))", db)
        selectActivities = try PreparedStatement(
            "SELECT rooms.id, \(activity), engaged FROM members \(rooms) WHERE \(isOf("?1"))", db)
        selectActivity = try PreparedStatement(
            "SELECT rooms.id, \(activity), engaged FROM members \(rooms) WHERE members.room = ?1 AND \(isOf("?2"))", db)
        selectUnknown = try PreparedStatement(
            """
            SELECT rooms.id, \(activity), engaged, name FROM members INDEXED BY members_by_activity CROSS \(rooms)
            WHERE \(isOf("?1")) AND engaged IN (0, 1) AND activity = \(ActivityStatements.unknown)
            """, db)
        selectIndexed = try PreparedStatement(
            """
            SELECT rooms.id, activity, engaged, name FROM members INDEXED BY members_by_activity CROSS \(rooms)
            WHERE \(isOf("?1")) AND engaged = ?2 AND activity <= ?3 AND activity < \(ActivityStatements.unknown)
            ORDER BY activity DESC
            """, db)
        selectMembership = try PreparedStatement(
            """
            SELECT rooms.id FROM rooms CROSS JOIN members ON members.room = rooms.id AND \(isOf("?2"))
            WHERE rooms.name = ?1 AND rooms.deleted = 0
            """, db)
        selectFill = try PreparedStatement("SELECT 1 FROM meta WHERE key = '\(Schema.activityFill)'", db)
        count = try PreparedStatement(
            "SELECT count(*) FROM (SELECT 1 FROM members WHERE user = ? LIMIT ?) AS counted", db)
    }

    // MARK: All rooms

    /// Passes `body` the number and id of each room that a user is a member of, in no order.
    func forEachRoom(of user: UserID, _ body: (Int64, RoomID) -> Void) throws {
        try selectRooms.bind(user.string, at: 1)
        try selectRooms.forEachRow { row in
            body(row.integer(0), RoomID(trusted: row.text(1)))
        }
    }

    /// Passes `body` each room that a user is a member of, in no order.
    func forEachActivity(of user: UserID, _ body: (Row) -> Void) throws {
        try selectActivities.bind(user.string, at: 1)
        try selectActivities.forEachRow { body(Row($0)) }
    }

    // MARK: Rooms by activity

    /// Returns true once all memberships have their activity filled in, see ``ActivityStatements``.
    func isIndexed() throws -> Bool {
        try selectFill.firstRow { _ in true } == nil
    }

    /// Returns the number of rooms that a user is a member of, counting no further than `most`.
    func count(of user: UserID, most: Int) throws -> Int {
        try count.bind(user.string, at: 1)
        try count.bind(Int64(most), at: 2)
        return try count.firstRow { Int($0.integer(0)) } ?? 0
    }

    /// Returns the number of a room if a user is a member of it.
    func number(of room: RoomID, for user: UserID) throws -> Int64? {
        try selectMembership.bind(room.string, at: 1)
        try selectMembership.bind(user.string, at: 2)
        return try selectMembership.firstRow { $0.integer(0) }
    }

    /// Returns a user's membership of one room; `nil` if the user is not a member.
    func activity(of user: UserID, in room: Int64) throws -> Row? {
        try selectActivity.bind(room, at: 1)
        try selectActivity.bind(user.string, at: 2)
        return try selectActivity.firstRow { Row($0) }
    }

    /// Passes `body` the rooms without an indexed activity, which are those with many members.
    func forEachUnknown(of user: UserID, _ body: (Row, RoomID) -> Void) throws {
        try selectUnknown.bind(user.string, at: 1)
        try selectUnknown.forEachRow { body(Row($0), RoomID(trusted: $0.text(3))) }
    }

    /// Passes `body` the rooms with an indexed activity, latest first, from `time` on, until it returns false.
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
