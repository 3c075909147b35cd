/// A message as everybody sees it: its present snapshot.
public struct Message: Sendable {
    /// The room it is in.
    public var room: RoomID
    /// Its place in the room: 1, 2, 3 … without holes.
    public var seq: Int64
    /// The room's revision of its latest change.
    public var rev: Int64
    /// Who sent it.
    public var sender: UserID
    /// The sender's own name for it.
    public var clientMessageID: String?
    /// What it says; empty if it is deleted.
    public var content: Content
    /// In the order of their first use.
    public var reactions: [Reaction]
    /// The time when it was stored; never decreases along ``seq``.
    public var createdAt: Timestamp
    /// The time when it was last edited.
    public var editedAt: Timestamp?
    /// True if only its place is left.
    public var deleted: Bool

    /// A message.
    public init(
        room: RoomID, seq: Int64, rev: Int64, sender: UserID, clientMessageID: String? = nil, content: Content,
        reactions: [Reaction] = [], createdAt: Timestamp, editedAt: Timestamp? = nil, deleted: Bool = false
    ) {
        self.room = room
        self.seq = seq
        self.rev = rev
        self.sender = sender
        self.clientMessageID = clientMessageID
        self.content = content
        self.reactions = reactions
        self.createdAt = createdAt
        self.editedAt = editedAt
        self.deleted = deleted
    }

    /// True if its content is the one that was first sent.
    public var isAsSent: Bool { editedAt == nil && !deleted }

    /// What is left of it when it is deleted: its place, who sent it and when. It has no revision of its own yet.
    public var tombstone: Message {
        Message(
            room: room, seq: seq, rev: rev, sender: sender, clientMessageID: clientMessageID, content: Content(),
            createdAt: createdAt, deleted: true)
    }
}
