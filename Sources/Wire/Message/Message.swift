/// A message in its current state, as clients see it.
public struct Message: Sendable {
    /// The room of the message.
    public var room: RoomID
    /// The position in the room: 1, 2, 3 … without gaps.
    public var seq: Int64
    /// The room's revision of the message's latest change.
    public var rev: Int64
    /// The sender.
    public var sender: UserID
    /// The sender's id for the send.
    public var clientMessageID: String?
    /// The content; empty if the message is deleted.
    public var content: Content
    /// The reactions, in the order of their first use.
    public var reactions: [Reaction]
    /// The pin; `nil` if it is not pinned.
    public var pinned: Pin?
    /// The time when the message was stored. It never decreases as ``seq`` grows.
    public var createdAt: Timestamp
    /// The time of the last edit.
    public var editedAt: Timestamp?
    /// True if the message is deleted and only its position remains.
    public var deleted: Bool

    /// Creates a message.
    public init(
        room: RoomID, seq: Int64, rev: Int64, sender: UserID, clientMessageID: String? = nil, content: Content,
        reactions: [Reaction] = [], pinned: Pin? = nil, createdAt: Timestamp, editedAt: Timestamp? = nil,
        deleted: Bool = false
    ) {
        self.room = room
        self.seq = seq
        self.rev = rev
        self.sender = sender
        self.clientMessageID = clientMessageID
        self.content = content
        self.reactions = reactions
        self.pinned = pinned
        self.createdAt = createdAt
        self.editedAt = editedAt
        self.deleted = deleted
    }

    /// True if the content is the one first sent.
    public var isAsSent: Bool { editedAt == nil && !deleted }

    /// The message after its deletion: its position, sender and creation time. Its revision is not yet set.
    public var tombstone: Message {
        Message(
            room: room, seq: seq, rev: rev, sender: sender, clientMessageID: clientMessageID, content: Content(),
            createdAt: createdAt, deleted: true)
    }
}
