public import Wire

/// Access that a commit has revoked. Existing subscriptions and sockets that relied on it end.
public enum AccessEnd: Sendable, Hashable {
    /// The room was deleted, for everybody.
    case roomDeleted(RoomID)
    /// A user was banned from a room, or with `nil` from the whole server.
    case banned(Ban, from: RoomID?)
    /// A user was erased. Anybody who uses the name from now on is a new user.
    case erased(UserID)
    /// An erased user was removed from a room.
    case removed(UserID, from: RoomID)
}
