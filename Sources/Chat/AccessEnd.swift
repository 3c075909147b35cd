public import Wire

/// Access that a commit has taken away, so that subscriptions and sockets end that were opened before.
public enum AccessEnd: Sendable, Hashable {
    /// The room is deleted, for everybody.
    case roomDeleted(RoomID)
    /// A user may not read a room any more, or with `nil` anything.
    case banned(Ban, from: RoomID?)
    /// A user is erased, and whoever has that name from now on is another one.
    case erased(UserID)
    /// A user who is erased is no member of a room any more.
    case removed(UserID, from: RoomID)
}
