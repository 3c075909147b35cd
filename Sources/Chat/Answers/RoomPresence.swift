public import Wire

/// The subscribers of a room, as `GET …/presence` returns them.
public struct RoomPresence: Sendable, Hashable {
    /// The room.
    public var room: RoomID
    /// Number of users and anonymous subscribers.
    public var online: Int
    /// The users; `nil` if there are too many to list.
    public var users: [UserID]?

    /// Creates the presence of a room.
    public init(room: RoomID, online: Int, users: [UserID]?) {
        self.room = room
        self.online = online
        self.users = users
    }

    /// Appends the presence as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"room":"#)
        out.append(quoted: room.string)
        out.append(member: "online", Int64(online))
        if let users {
            out.append(memberName: "users")
            out.append(array: users) { $1.append(quoted: $0.string) }
        }
        out.append(UInt8(ascii: "}"))
    }
}
