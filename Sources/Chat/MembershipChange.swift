public import Wire

/// That a user has become a member of a room, or is none any more.
public struct MembershipChange: Sendable, Hashable {
    /// What has happened.
    public enum Kind: Sendable, Hashable {
        /// The user is a member, or an owner, and was none. The room was at this revision: what is committed to it from
        /// then on has higher ones, also where the user has made the room by sending to it.
        case joined(rev: Int64)
        /// The user is no member any more.
        case left
    }

    /// Who it is about.
    public var user: UserID
    /// The room.
    public var room: RoomID
    /// What has happened.
    public var kind: Kind

    /// A change.
    public init(user: UserID, room: RoomID, kind: Kind) {
        self.user = user
        self.room = room
        self.kind = kind
    }
}
