public import Wire

/// Access that a commit has taken away, so that subscriptions and sockets end that were opened before.
public enum AccessEnd: Sendable, Hashable {
    /// The room is deleted, for everybody.
    case roomDeleted(RoomID)
}
