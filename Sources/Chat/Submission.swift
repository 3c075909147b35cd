public import Wire

/// One change to a room, on its way to the log.
public struct Submission: Sendable {
    /// The work to do.
    public enum Change: Sendable {
        /// Append a message.
        case send(Draft)
        /// Change a message that is there.
        case change(MessageChange)
        /// Move the user's read mark to a `seq`, or to the room's head where that is less. It never moves back.
        case read(seq: Int64)
        /// Change the room as a whole, or its members.
        case room(RoomChange)
        /// Change what a user may do; of no room.
        case user(UserID, UserChange)
    }

    /// Where the outcome goes.
    public var ticket: Ticket
    /// The room to change; `nil` for what is of no room.
    public var room: RoomID?
    /// Who changes it.
    public var sender: UserID
    /// The work to do.
    public var change: Change
    /// True if the sender may do in any room what its owners may.
    public var isAdmin: Bool

    /// A change by `sender` to `room`, answered under `ticket`.
    public init(ticket: Ticket, room: RoomID?, sender: UserID, change: Change, isAdmin: Bool = false) {
        self.ticket = ticket
        self.room = room
        self.sender = sender
        self.change = change
        self.isAdmin = isAdmin
    }
}

/// What became of a ``Submission``.
public struct Outcome: Sendable {
    /// The submission's ticket.
    public var ticket: Ticket
    /// The message as it is now, or why there is none.
    public var result: Result<Stored, Problem>

    /// The outcome of the submission with this ticket.
    public init(ticket: Ticket, result: Result<Stored, Problem>) {
        self.ticket = ticket
        self.result = result
    }
}

/// A message as the log holds it.
public struct Stored: Sendable {
    /// Its place in the room. Of a read mark, where it is; of a room, its head.
    public var seq: Int64
    /// The room's revision of its latest change. Of a read mark and a room, the room's.
    public var rev: Int64
    /// Its snapshot: the JSON object of a message, the same bytes in answers, pages and pushes. Of a read mark
    /// and a room, nothing; of a ban, its JSON object.
    public var body: [UInt8]
    /// True if this submission is the send that stored it; `false` when the same send had been stored before, and for
    /// what is no send. Of a read mark, whether it has moved; of a room, whether it
    /// or the membership is new or gone; of a ban, whether there was none.
    public var isNew: Bool
    /// Of a room, whether it has become one for members only.
    public var becamePrivate: Bool

    /// A stored message.
    public init(seq: Int64, rev: Int64, body: [UInt8], isNew: Bool = false, becamePrivate: Bool = false) {
        self.seq = seq
        self.rev = rev
        self.body = body
        self.isNew = isNew
        self.becamePrivate = becamePrivate
    }
}

/// What one commit changed in one room.
///
/// The messages have consecutive revisions, the first of them `firstRev`. One that was changed more than once is there
/// as each change has left it.
public struct Batch: Sendable {
    /// The room.
    public var room: RoomID
    /// The revision of the first message.
    public var firstRev: Int64
    /// The room's highest `seq` after the commit.
    public var head: Int64
    /// The messages' snapshots, new ones and changed ones, in the order of their revisions.
    public var messages: [[UInt8]]

    /// The messages of one commit in one room.
    public init(room: RoomID, firstRev: Int64, head: Int64, messages: [[UInt8]]) {
        self.room = room
        self.firstRev = firstRev
        self.head = head
        self.messages = messages
    }
}
