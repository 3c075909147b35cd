public import Wire

/// A room in the admins' list of all rooms.
public struct AdminRoom: Sendable, Hashable {
    /// The room.
    public var room: RoomID
    /// Its title; `nil` without one.
    public var title: String?
    /// Its visibility.
    public var visibility: RoomSummary.Visibility
    /// The other settings of its owners.
    public var manners: RoomManners
    /// The number of its messages, including tombstones.
    public var messages: Int64
    /// The number of its members.
    public var members: Int64
    /// The size of its messages in bytes, as sent to clients.
    public var bytes: Int64
    /// The time of its newest message, or of its creation; `nil` if neither is known.
    public var lastActivity: Timestamp?

    /// Creates an entry of the list.
    public init(
        room: RoomID, title: String?, visibility: RoomSummary.Visibility, manners: RoomManners = RoomManners(),
        messages: Int64, members: Int64, bytes: Int64, lastActivity: Timestamp?
    ) {
        self.room = room
        self.title = title
        self.visibility = visibility
        self.manners = manners
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
        manners.encodeMembers(into: &out)
        out.append(member: "messages", messages)
        out.append(member: "members", members)
        out.append(member: "bytes", bytes)
        if let lastActivity { out.append(member: "last_activity", lastActivity.description) }
        out.append(UInt8(ascii: "}"))
    }
}

/// A page of all rooms, the answer to `GET /v1/admin/rooms`.
public struct AdminRooms: Sendable, Hashable {
    /// The rooms, latest activity first.
    public var rooms: [AdminRoom]
    /// The cursor of the next page; `nil` at the end of the list.
    public var next: InboxCursor?

    /// Creates a page, read in one transaction.
    public init(rooms: [AdminRoom], next: InboxCursor?) {
        self.rooms = rooms
        self.next = next
    }

    /// Appends the page as a JSON object.
    public func encode(epoch: String, into out: inout [UInt8]) {
        out.append(rooms: rooms, next: next, epoch: epoch) { $0.encode(into: &$1) }
    }
}

/// A user as admins see it, the answer to `GET /v1/admin/users/{user}`.
public struct AdminUser: Sendable, Hashable {
    /// A membership.
    public struct Membership: Sendable, Hashable {
        /// The room.
        public var room: RoomID
        /// The user's role in the room.
        public var role: RoomMember.Role

        /// Creates a membership.
        public init(room: RoomID, role: RoomMember.Role) {
            self.room = room
            self.role = role
        }
    }

    /// The user.
    public var user: UserID
    /// A page of the user's rooms, in order of creation.
    public var rooms: [Membership]
    /// True if there are more rooms after these.
    public var hasMore: Bool
    /// The time of the user's last message within the searched ones; `nil` if none was found.
    public var lastActivity: Timestamp?

    /// Creates an answer.
    public init(user: UserID, rooms: [Membership], hasMore: Bool, lastActivity: Timestamp?) {
        self.user = user
        self.rooms = rooms
        self.hasMore = hasMore
        self.lastActivity = lastActivity
    }

    /// Appends the user as a JSON object.
    ///
    /// - Parameter sockets: The number of open sockets and event streams of the user.
    public func encode(sockets: Int, into out: inout [UInt8]) {
        out.append(literal: #"{"user":"#)
        out.append(quoted: user.string)
        out.append(memberName: "rooms")
        out.append(array: rooms) { membership, out in
            out.append(literal: #"{"room":"#)
            out.append(quoted: membership.room.string)
            out.append(member: "role", membership.role.rawValue)
            out.append(UInt8(ascii: "}"))
        }
        out.append(member: "has_more", hasMore)
        if let lastActivity { out.append(member: "last_activity", lastActivity.description) }
        out.append(member: "sockets", Int64(sockets))
        out.append(UInt8(ascii: "}"))
    }
}
