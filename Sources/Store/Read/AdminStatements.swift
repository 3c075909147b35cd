import Chat
import Wire

/// A reader's statements for admins.
///
/// Confined to its connection.
final class AdminStatements {
    /// A room without its unfiled messages.
    struct Room {
        var number: Int64
        var id: RoomID
        var isPrivate: Bool
        var title: String?
        var bytes: Int64
        /// The time of the latest activity in milliseconds since 1970; 0 if unknown.
        var latest: Int64

        /// Its latest activity, by which lists are sorted.
        var activity: InboxCursor.Activity { InboxCursor.Activity(milliseconds: latest, room: id) }
    }

    /// A room of a user, with the time of its latest activity in milliseconds since 1970.
    struct Activity {
        var number: Int64
        var id: RoomID
        var latest: Int64
    }

    private let selectByActivity: PreparedStatement
    private let selectRoom: PreparedStatement
    private let countMembers: PreparedStatement
    private let selectMemberships: PreparedStatement
    private let selectActivities: PreparedStatement
    private let selectLastSend: PreparedStatement

    init(_ db: Connection) throws {
        let activity = "ifnull(ifnull(active_at, created_at), 0)"
        let columns = "id, name, private, title, bytes, \(activity)"
        selectByActivity = try PreparedStatement(
            """
            SELECT \(columns) FROM rooms WHERE deleted = 0 AND \(activity) <= ?1
                AND NOT (\(activity) = ?1 AND name <= ?2)
            ORDER BY \(activity) DESC, name
            """, isLong: true, db)
        selectRoom = try PreparedStatement("SELECT \(columns) FROM rooms WHERE name = ? AND deleted = 0", db)
        countMembers = try PreparedStatement("SELECT count(*) FROM members WHERE room = ?", db)
        selectMemberships = try PreparedStatement(
            """
            SELECT rooms.name, owner FROM members JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0
            WHERE members.user = ?1 AND members.room > ?2 AND \(ErasureStatements.isPresent("?1", in: "members.room"))
            ORDER BY members.room LIMIT ?3
            """, db)
        selectActivities = try PreparedStatement(
            """
            SELECT rooms.id, rooms.name, \(activity) FROM members
                JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0
            WHERE members.user = ?1 AND \(ErasureStatements.isPresent("?1", in: "members.room")) LIMIT ?2
            """, db)
        selectLastSend = try PreparedStatement(
            "SELECT created_at FROM messages WHERE id > ? AND id <= ? AND sender = ? ORDER BY id DESC LIMIT 1", db)
    }

    /// Passes `body` the rooms after a position, latest activity first, until it returns false.
    func forEachRoom(after place: InboxCursor.Activity?, _ body: (Room) -> Bool) throws {
        try selectByActivity.bind(place?.milliseconds ?? .max, at: 1)
        // Every id sorts after a space, because no id contains one.
        try selectByActivity.bind(place?.room.string ?? " ", at: 2)
        try selectByActivity.withRows { rows in
            while rows.hasRow {
                guard body(Room(rows.row)) else { return }
                try rows.next()
            }
        }
    }

    /// Returns a room; `nil` if it does not exist or has been deleted.
    func room(_ id: RoomID) throws -> Room? {
        try selectRoom.bind(id.string, at: 1)
        return try selectRoom.firstRow { Room($0) }
    }

    /// Returns the number of a room's members.
    func members(of room: Int64) throws -> Int64 {
        try countMembers.bind(room, at: 1)
        return try countMembers.firstRow { $0.integer(0) } ?? 0
    }

    /// Returns at most `limit` rooms that a user is a member of, after number `room`, by number.
    func memberships(of user: UserID, after room: Int64, limit: Int) throws -> [AdminUser.Membership] {
        try selectMemberships.bind(user.string, at: 1)
        try selectMemberships.bind(room, at: 2)
        try selectMemberships.bind(Int64(limit), at: 3)
        return try selectMemberships.allRows { row in
            AdminUser.Membership(room: RoomID(trusted: row.text(0)), role: row.integer(1) == 1 ? .owner : .member)
        }
    }

    /// Returns at most `limit` rooms that a user is a member of, in no order.
    func activities(of user: UserID, limit: Int) throws -> [Activity] {
        try selectActivities.bind(user.string, at: 1)
        try selectActivities.bind(Int64(limit), at: 2)
        return try selectActivities.allRows {
            Activity(number: $0.integer(0), id: RoomID(trusted: $0.text(1)), latest: $0.integer(2))
        }
    }

    /// Returns the time of a user's latest message in a room, among the `most` messages up to `head`, in milliseconds
    /// since 1970.
    func lastSend(of user: UserID, in room: Int64, head: Int64, most: Int64) throws -> Int64? {
        try selectLastSend.bind(RowKey(room: room, head - most).rawValue, at: 1)
        try selectLastSend.bind(RowKey(room: room, head).rawValue, at: 2)
        try selectLastSend.bind(user.string, at: 3)
        return try selectLastSend.firstRow { $0.integer(0) }
    }
}

extension AdminStatements.Room {
    fileprivate init(_ row: borrowing PreparedStatement.Row) {
        number = row.integer(0)
        id = RoomID(trusted: row.text(1))
        isPrivate = row.integer(2) == 1
        title = row.isNull(3) ? nil : row.text(3)
        bytes = row.integer(4)
        latest = row.integer(5)
    }
}
