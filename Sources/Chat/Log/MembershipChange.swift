public import Wire

/// A change of a room's membership that a commit made.
public struct MembershipChange: Sendable, Hashable {
    /// The kind of change.
    public enum Kind: Sendable, Hashable {
        /// The user became a member or an owner. The room was at this revision before the commit, so the commit's own
        /// messages have higher ones, even if the user created the room by sending to it.
        case joined(rev: Int64)
        /// The user is no longer a member.
        case left
    }

    /// The user.
    public var user: UserID
    /// The room.
    public var room: RoomID
    /// The kind of change.
    public var kind: Kind

    /// Creates a change.
    public init(user: UserID, room: RoomID, kind: Kind) {
        self.user = user
        self.room = room
        self.kind = kind
    }
}
