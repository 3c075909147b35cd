import Chat
import Wire

/// A room in the list of all rooms.
struct ServerRoom {
    var number: Int64
    var id: RoomID
    var isPrivate: Bool
    var title: String?
    var manners: RoomManners
    /// The number of bytes of its messages.
    var bytes: Int64
    /// The time of the latest activity in milliseconds since 1970; 0 if unknown.
    var latest: Int64

    /// Its latest activity, by which lists are sorted.
    var activity: InboxCursor.Activity { InboxCursor.Activity(milliseconds: latest, room: id) }
}

/// Statements for admins. `activity` is the expression for a room's latest activity in its row, of which there is an
/// index.
extension SQLDatabase {
    /// Passes `body` the rooms after a position, latest activity first, until it returns false.
    func forEachRoom(
        after last: InboxCursor.Activity?, by activity: String, _ body: (ServerRoom) -> Bool
    ) throws {
        let select = try prepare(
            """
            SELECT id, name, private, bytes, \(activity), \(RoomManners.columns) FROM rooms
            WHERE deleted = 0 AND \(activity) <= $1 AND NOT (\(activity) = $1 AND name <= $2)
            ORDER BY \(activity) DESC, name
            """, isLong: true)
        try select.bind(last?.milliseconds ?? .max, at: 1)
        // Every id sorts after a space, because no id contains one.
        try select.bind(last?.room.string ?? " ", at: 2)
        try select.withRows { row in
            while row.hasRow, body(ServerRoom(row)) { try row.next() }
        }
    }

    /// Returns a room; `nil` if it does not exist or has been deleted.
    func serverRoom(_ id: RoomID, by activity: String) throws -> ServerRoom? {
        try first(
            """
            SELECT id, name, private, bytes, \(activity), \(RoomManners.columns) FROM rooms
            WHERE name = $1 AND deleted = 0
            """, id
        ) { ServerRoom($0) }
    }

    /// Returns the number of a room's members.
    func countMembers(of room: Int64) throws -> Int64 {
        try first(
            "SELECT count(*) FROM members WHERE room = $1 AND \(Erasures.isPresent("members.\"user\"", in: "$1"))", room
        ) { $0.integer(0) } ?? 0
    }

    /// Returns at most `limit` rooms that a user is a member of, after number `room`, by number.
    func memberships(of user: UserID, after room: Int64, limit: Int) throws -> [AdminUser.Membership] {
        try all(
            """
            SELECT rooms.name, owner FROM members JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0
            WHERE members."user" = $1 AND members.room > $2 AND \(Erasures.isPresent("$1", in: "members.room"))
            ORDER BY members.room LIMIT $3
            """, user, room, limit
        ) { row in
            AdminUser.Membership(room: RoomID(trusted: row.text(0)), role: RoomMember.Role(row.integer(1)))
        }
    }

    /// Returns the most active rooms that a user is a member of, latest activity first: at most ``AdminSearch/rooms``. All
    /// rooms of the user are sorted for it.
    func activities(of user: UserID, by activity: String) throws -> [(number: Int64, latest: Int64)] {
        try all(
            """
            SELECT rooms.id, \(activity) FROM members
                JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0
            WHERE members."user" = $1 AND \(Erasures.isPresent("$1", in: "members.room"))
            ORDER BY \(activity) DESC LIMIT \(AdminSearch.rooms)
            """, user
        ) { ($0.integer(0), $0.integer(1)) }
    }

    /// Returns the time of a user's latest message in the rows of rooms, in milliseconds since 1970.
    ///
    /// - Parameters:
    ///   - rooms: The rooms, latest activity first.
    ///   - known: The time of a message that is known already; an earlier one is not searched.
    func lastSend(
        of user: UserID, in rooms: [(number: Int64, latest: Int64)], after known: Int64? = nil
    ) throws -> Int64? {
        var last = known
        for room in rooms {
            // Neither this room nor any later one has a newer message.
            if let last, room.latest <= last { break }
            let head = try progress(of: room.number).head
            let time = try first(
                "SELECT created_at FROM messages WHERE id > $1 AND id <= $2 AND sender = $3 ORDER BY id DESC LIMIT 1",
                RowKey(room: room.number, head - AdminSearch.messages), RowKey(room: room.number, head), user
            ) { $0.integer(0) }
            if let time { last = max(last ?? 0, time) }
        }
        return last
    }
}

/// Maximum number of a user's rooms, most active first, that are searched for the user's latest message, and maximum
/// number of messages searched in each.
enum AdminSearch {
    static let rooms = 100
    static let messages: Int64 = 1000
}

extension ServerRoom {
    fileprivate init(_ row: some SQLStatement) {
        number = row.integer(0)
        id = RoomID(trusted: row.text(1))
        isPrivate = row.integer(2) == 1
        bytes = row.integer(3)
        latest = row.integer(4)
        title = RoomManners.title(row, from: 5)
        manners = RoomManners(row, from: 5)
    }
}
