public import Wire

/// The caller of a request and its rights: from a token, or in open mode as the caller states.
public struct Identity: Sendable, Hashable {
    /// The user; `nil` for a caller in open mode without a name.
    public var user: UserID?
    /// The rooms that the caller is limited to; `nil` for no limit. An empty list allows no room.
    public var rooms: [RoomPattern]?
    /// True for an admin, who has the rights of an owner in the rooms that ``allows(room:)`` permits. Always false in open
    /// mode, where anybody could claim it.
    public var isAdmin: Bool
    /// The time when the identity expires, and sockets opened with it end; `nil` for never.
    public var end: Timestamp?
    // Few tokens claim one, and a copy of the others is small.
    private var claims: [ProfileSettings]

    /// The name and the picture that the token claims; `nil` if it claims neither.
    public var claimedProfile: ProfileSettings? { claims.first }

    /// Creates an identity.
    public init(
        user: UserID?, rooms: [RoomPattern]? = nil, isAdmin: Bool = false, end: Timestamp? = nil,
        claimedProfile: ProfileSettings? = nil
    ) {
        claims = claimedProfile.map { [$0] } ?? []
        self.user = user
        self.rooms = rooms
        self.isAdmin = isAdmin
        self.end = end
    }

    /// True for an admin who is not limited to rooms, and may also change what belongs to no room.
    public var isServerAdmin: Bool { isAdmin && rooms == nil }

    /// Returns true if the caller's token allows the room.
    public func allows(room: RoomID) -> Bool { RoomPattern.allow(room, rooms) }
}
