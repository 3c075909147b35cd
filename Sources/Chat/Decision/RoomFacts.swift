public import Wire

/// The state of a room that the rules ask about.
public struct RoomFacts: Sendable, Hashable {
    /// The largest `seq` or revision that a room can have.
    public static let maximumPlace: Int64 = 1 << 36 - 1

    /// The highest `seq`.
    public var head: Int64
    /// The latest revision.
    public var rev: Int64
    /// The time when its newest message was stored.
    public var latest: Timestamp
    /// True if only members may use it.
    public var isPrivate: Bool
    /// True if it was deleted. Only its id is left.
    public var isDeleted: Bool
    // Empty unless the room is a direct one, so that a copy of the facts is small.
    private var directs: [DirectRoom] = []

    /// The two members of a direct room; `nil` for other rooms.
    public var direct: DirectRoom? {
        get { directs.first }
        set { directs = newValue.map { [$0] } ?? [] }
    }

    /// Creates the state of a room; by default that of a new one.
    public init(
        head: Int64 = 0, rev: Int64 = 0, latest: Timestamp = .earliest, isPrivate: Bool = false,
        isDeleted: Bool = false,
        direct: DirectRoom? = nil
    ) {
        self.head = head
        self.rev = rev
        self.latest = latest
        self.isPrivate = isPrivate
        self.isDeleted = isDeleted
        self.direct = direct
    }

    /// True if the rules ask for the role of anybody who sends to the room or reads it.
    public var asksForRole: Bool { isPrivate }

    /// True if the room may become full before the next look at it. Its sends are then decided one by one, although the
    /// rules permit them.
    var isNearlyFull: Bool { rev >= Self.maximumPlace - 1 << 32 }

    /// True if no message in the room can be changed any more.
    var isFull: Bool { rev >= Self.maximumPlace }

    /// Appends a message: it takes the next `seq` and revision.
    ///
    /// - Parameters:
    ///   - id: The room's id.
    ///   - time: The time of the commit. The message's own time is later if the clock was set back, because times never
    ///     decrease as `seq` grows.
    /// - Returns: `nil`, with nothing changed, if the room is full.
    public mutating func append(_ draft: Draft, by sender: UserID, to id: RoomID, at time: Timestamp) -> NewMessage? {
        guard head < Self.maximumPlace, rev < Self.maximumPlace else { return nil }
        head += 1
        rev += 1
        latest = max(time, latest)
        var body: [UInt8] = []
        Message.encode(room: id, seq: head, rev: rev, sender: sender, draft: draft, createdAt: latest, into: &body)
        return NewMessage(
            stored: StoredMessage(seq: head, rev: rev, body: body), sender: sender,
            clientMessageID: draft.clientMessageID, createdAt: latest)
    }
}
