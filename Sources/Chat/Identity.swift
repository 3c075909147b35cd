public import Wire

/// Who makes a request, and what that may be about: what a token says, or in open mode what the caller says.
public struct Identity: Sendable, Hashable {
    /// The user; `nil` for a caller in open mode who has given no name.
    public var user: UserID?
    /// The rooms that the caller is limited to; `nil` for no such limit. Of an empty list no room is allowed.
    public var rooms: [RoomPattern]?
    /// True if the caller may do what only admins may. Never in open mode, where anybody could say so.
    public var isAdmin: Bool
    /// From when on this no longer holds: a socket that was opened with it ends then. `nil` for never.
    public var end: Timestamp?

    /// An identity.
    public init(user: UserID?, rooms: [RoomPattern]? = nil, isAdmin: Bool = false, end: Timestamp? = nil) {
        self.user = user
        self.rooms = rooms
        self.isAdmin = isAdmin
        self.end = end
    }

    /// Returns whether the caller may have anything to do with a room, as far as the token is concerned.
    public func allows(room: RoomID) -> Bool {
        guard let rooms else { return true }
        for pattern in rooms where pattern.matches(room) { return true }
        return false
    }
}
