public import Wire

/// One change to a room, on its way to the log.
public struct Submission: Sendable {
    /// The work to do.
    public enum Change: Sendable {
        /// Append a message.
        case send(Draft)
        /// Change a stored message.
        case change(MessageChange)
        /// Move the user's read mark to a `seq`, or to the room's head if that is lower. The mark never moves back.
        case read(seq: Int64)
        /// Change the room or its members.
        case room(RoomChange)
        /// Change a user's rights; has no room.
        case user(UserID, UserChange)
    }

    /// The destination of the outcome.
    public var ticket: Ticket
    /// The room to change; `nil` for changes that have no room.
    public var room: RoomID?
    /// The user who makes the change.
    public var sender: UserID
    /// The work to do.
    public var change: Change
    /// True if the sender has the rights of an owner in every room.
    public var isAdmin: Bool

    /// Creates a change by `sender` to `room`, answered under `ticket`.
    public init(ticket: Ticket, room: RoomID?, sender: UserID, change: Change, isAdmin: Bool = false) {
        self.ticket = ticket
        self.room = room
        self.sender = sender
        self.change = change
        self.isAdmin = isAdmin
    }
}

/// The outcome of a ``Submission``.
public struct Outcome: Sendable {
    /// The submission's ticket.
    public var ticket: Ticket
    /// The result, or the reason why the change was refused.
    public var result: Result<Receipt, Problem>

    /// Creates the outcome of the submission with this ticket.
    public init(ticket: Ticket, result: Result<Receipt, Problem>) {
        self.ticket = ticket
        self.result = result
    }
}

/// The result of a successful submission, by the kind of its ``Submission/Change``.
public enum Receipt: Sendable, Hashable {
    /// The message of a send or of a change. `isNew` is true if this send stored it; false for a repeated send, and for
    /// changes.
    case message(StoredMessage, isNew: Bool)
    /// The position of the user's read mark. `hasMoved` is false if the mark was there already, or further on.
    case readMark(seq: Int64, hasMoved: Bool)
    /// A room, a membership or a lifted ban. `isNew` is true if the room or the membership was created.
    case room(isNew: Bool)
    /// The JSON object of a ban or an erasure. `isNew` is true if there was none before.
    case record([UInt8], isNew: Bool)

    /// True if the change created something: a message, a room, a membership, a ban or an erasure.
    public var isNew: Bool {
        switch self {
        case .message(_, let isNew), .room(let isNew), .record(_, let isNew): isNew
        case .readMark: false
        }
    }
}

/// A stored message.
public struct StoredMessage: Sendable, Hashable {
    /// The place of the message in its room.
    public var seq: Int64
    /// The revision of its latest change.
    public var rev: Int64
    /// The message's snapshot, a JSON object: the same bytes in answers, pages and pushes.
    public var body: [UInt8]

    /// Creates the message at `seq`.
    public init(seq: Int64, rev: Int64, body: [UInt8]) {
        self.seq = seq
        self.rev = rev
        self.body = body
    }
}

/// The changes that one commit made to one room.
///
/// The messages have consecutive revisions, starting with `firstRev`. A message that changed more than once is
/// contained once for each change.
public struct Batch: Sendable {
    /// The room.
    public var room: RoomID
    /// The revision of the first message.
    public var firstRev: Int64
    /// The room's highest `seq` after the commit.
    public var head: Int64
    /// The messages' snapshots, new and changed ones, in the order of their revisions.
    public var messages: [[UInt8]]

    /// Creates a batch.
    public init(room: RoomID, firstRev: Int64, head: Int64, messages: [[UInt8]]) {
        self.room = room
        self.firstRev = firstRev
        self.head = head
        self.messages = messages
    }
}
