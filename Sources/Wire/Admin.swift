/// A room as admins see it in the list of all rooms.
public struct AdminRoom: Sendable, Hashable {
    /// The room.
    public var room: RoomID
    /// Its title, if it has one.
    public var title: String?
    /// The visibility: who may read it.
    public var visibility: RoomSummary.Visibility
    /// The number of messages that it has, tombstones among them.
    public var messages: Int64
    /// The number of members that it has.
    public var members: Int64
    /// The bytes of its messages as they are sent to clients.
    public var bytes: Int64
    /// The time when its newest message was stored, or else the room was made; `nil` if neither is known.
    public var lastActivity: Timestamp?

    /// A room.
    public init(
        room: RoomID, title: String?, visibility: RoomSummary.Visibility, messages: Int64, members: Int64,
        bytes: Int64, lastActivity: Timestamp?
    ) {
        self.room = room
        self.title = title
        self.visibility = visibility
        self.messages = messages
        self.members = members
        self.bytes = bytes
        self.lastActivity = lastActivity
    }

    /// Appends the room as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"room":"#)
        out.append(quoted: room.string)
        if let title { out.append(member: "title", title) }
        out.append(member: "visibility", visibility.rawValue)
        out.append(member: "messages", messages)
        out.append(member: "members", members)
        out.append(member: "bytes", bytes)
        if let lastActivity { out.append(member: "last_activity", lastActivity.description) }
        out.append(UInt8(ascii: "}"))
    }
}

/// All rooms of a server, as `GET /v1/admin/rooms` answers them.
public struct AdminRooms: Sendable, Hashable {
    /// The rooms, latest activity first.
    public var rooms: [AdminRoom]
    /// The cursor of the next page; `nil` at the end of the list.
    public var next: InboxCursor?

    /// A part of the list, read in one snapshot.
    public init(rooms: [AdminRoom], next: InboxCursor?) {
        self.rooms = rooms
        self.next = next
    }

    /// Appends the list as a JSON object.
    public func encode(epoch: String, into out: inout [UInt8]) {
        out.append(literal: #"{"rooms":["#)
        for (index, room) in rooms.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            room.encode(into: &out)
        }
        out.append(UInt8(ascii: "]"))
        out.append(member: "has_more", next != nil)
        if let next { out.append(member: "cursor", next.description) }
        out.append(member: "epoch", epoch)
        out.append(UInt8(ascii: "}"))
    }
}

/// A user as admins see it: `GET /v1/admin/users/{user}`.
public struct AdminUser: Sendable, Hashable {
    /// A membership.
    public struct Membership: Sendable, Hashable {
        /// The room.
        public var room: RoomID
        /// The user's role there.
        public var role: RoomMember.Role

        /// A membership.
        public init(room: RoomID, role: RoomMember.Role) {
            self.room = room
            self.role = role
        }
    }

    /// The user.
    public var user: UserID
    /// Some of the user's rooms, those that were made first in front.
    public var rooms: [Membership]
    /// True if there are more behind them.
    public var hasMore: Bool
    /// The time when the user has sent a message last, as far as that was looked for; `nil` when none was found.
    public var lastActivity: Timestamp?

    /// A user.
    public init(user: UserID, rooms: [Membership], hasMore: Bool, lastActivity: Timestamp?) {
        self.user = user
        self.rooms = rooms
        self.hasMore = hasMore
        self.lastActivity = lastActivity
    }

    /// Appends the user as a JSON object.
    ///
    /// - Parameter sockets: how many sockets and event streams the user has open.
    public func encode(sockets: Int, into out: inout [UInt8]) {
        out.append(literal: #"{"user":"#)
        out.append(quoted: user.string)
        out.append(literal: #","rooms":["#)
        for (index, membership) in rooms.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out.append(literal: #"{"room":"#)
            out.append(quoted: membership.room.string)
            out.append(member: "role", membership.role.rawValue)
            out.append(UInt8(ascii: "}"))
        }
        out.append(UInt8(ascii: "]"))
        out.append(member: "has_more", hasMore)
        if let lastActivity { out.append(member: "last_activity", lastActivity.description) }
        out.append(member: "sockets", Int64(sockets))
        out.append(UInt8(ascii: "}"))
    }
}
