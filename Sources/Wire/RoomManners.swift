/// The settings of a room that its owners make, apart from its visibility and title.
public struct RoomManners: Sendable, Hashable {
    /// The users who may send.
    public enum Posting: String, Sendable, Hashable {
        /// Everybody who may use the room.
        case members
        /// Owners only.
        case owners
    }

    /// The users who may pin messages.
    public enum Pinning: String, Sendable, Hashable {
        /// Owners only.
        case owners
        /// Every member.
        case members
    }

    /// The users who may send.
    public var posting: Posting
    /// The users who may pin messages.
    public var pinning: Pinning
    /// Slow mode: the time between two messages of a user who is not an owner, 0 to ``Limits/slowSeconds``.
    public var slowSeconds: Int
    /// The number of days for which messages are kept; `nil` for the server's.
    public var keepDays: Int?
    /// The `https` URL of a picture.
    public var avatar: String?
    /// Application data: a compact JSON object of at most ``Limits/roomDataBytes``, or empty.
    public var data: [UInt8]

    /// True if searches look into the room.
    public var isSearchable: Bool

    /// Creates manners; by default those of a new room.
    public init(
        posting: Posting = .members, pinning: Pinning = .owners, slowSeconds: Int = 0, keepDays: Int? = nil,
        avatar: String? = nil,
        data: [UInt8] = [], isSearchable: Bool = true
    ) {
        self.posting = posting
        self.pinning = pinning
        self.slowSeconds = slowSeconds
        self.keepDays = keepDays
        self.avatar = avatar
        self.data = data
        self.isSearchable = isSearchable
    }

    /// Appends what differs from a new room's as further members of an object.
    package func encodeMembers(into out: inout [UInt8]) {
        if posting != .members { out.append(member: "posting", posting.rawValue) }
        if pinning != .owners { out.append(member: "pinning", pinning.rawValue) }
        if slowSeconds > 0 { out.append(member: "slow_seconds", Int64(slowSeconds)) }
        if let keepDays { out.append(member: "keep_days", Int64(keepDays)) }
        if let avatar { out.append(member: "avatar", avatar) }
        if !data.isEmpty {
            out.append(memberName: "data")
            out.append(contentsOf: data)
        }
        if !isSearchable { out.append(member: "searchable", false) }
    }
}
