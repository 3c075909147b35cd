public import Wire

/// The state of a room that the rules ask about.
public struct RoomFacts: Sendable, Hashable {
    /// The largest `seq` or revision that a room can have.
    public static let maximumOrdinal: Int64 = 1 << 36 - 1

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
    /// The users who may send to it.
    public var posting: RoomManners.Posting
    /// The users who may pin messages.
    public var pinning: RoomManners.Pinning
    /// The time in seconds between two messages of a user who is not an owner; 0 for none.
    public var slowSeconds: Int
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
        posting: RoomManners.Posting = .members, pinning: RoomManners.Pinning = .owners, slowSeconds: Int = 0,
        direct: DirectRoom? = nil
    ) {
        self.head = head
        self.rev = rev
        self.latest = latest
        self.isPrivate = isPrivate
        self.isDeleted = isDeleted
        self.posting = posting
        self.pinning = pinning
        self.slowSeconds = slowSeconds
        self.direct = direct
    }

    /// Applies what is given of new settings.
    public mutating func apply(_ settings: RoomSettings) {
        if let visibility = settings.visibility { isPrivate = visibility == .private }
        posting = settings.posting ?? posting
        pinning = settings.pinning ?? pinning
        slowSeconds = settings.slowSeconds ?? slowSeconds
    }

    /// True if the rules ask for the role of everybody who sends to the room; if it is private, also of its readers.
    public var asksForRole: Bool { isPrivate || limitsSends }

    /// True if the rules ask whether a sender is an owner.
    var limitsSends: Bool { posting == .owners || slowSeconds > 0 }

    /// Returns the number of seconds that slow mode makes a user wait; `nil` for a user who may send now.
    ///
    /// - Parameter last: The time of the user's last message. If the clock was set back since, it may be a later one.
    func wait(after last: Timestamp, at time: Timestamp) -> Int? {
        let (slow, passed) = (Int64(slowSeconds) * 1000, time.milliseconds - last.milliseconds)
        guard abs(passed) < slow else { return nil }
        return Int((min(slow, slow - passed) + 999) / 1000)
    }

    /// True if the room may become full before the next look at it. Its sends are then decided one by one, although the
    /// rules permit them.
    var isNearlyFull: Bool { rev >= Self.maximumOrdinal - 1 << 32 }

    /// True if no message in the room can be changed any more.
    var isFull: Bool { rev >= Self.maximumOrdinal }

    /// Appends a message: it takes the next `seq` and revision.
    ///
    /// - Parameters:
    ///   - id: The room's id.
    ///   - time: The time of the commit. The message's own time is later if the clock was set back, because times never
    ///     decrease as `seq` grows.
    /// - Returns: `nil`, with nothing changed, if the room is full.
    public mutating func append(_ draft: Draft, by sender: UserID, to id: RoomID, at time: Timestamp) -> NewMessage? {
        guard head < Self.maximumOrdinal, rev < Self.maximumOrdinal else { return nil }
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

extension RoomSettings {
    /// True if they may take a right in the room away, so that a decision made by earlier facts may be wrong.
    var isRestriction: Bool { visibility == .private || posting == .owners || slowSeconds ?? 0 > 0 }
}
