public import Wire

/// One change to a room or to a user, on its way to the log.
public struct Submission: Sendable {
    /// The work to do.
    public enum Change: Sendable {
        /// Append a message.
        indirect case send(Draft)
        /// Change a stored message.
        case change(MessageChange)
        /// Move the user's read mark to a `seq`, or to the room's head if that is lower. The mark never moves back.
        case read(seq: Int64)
        /// Change the room or its members.
        case room(RoomChange)
        /// Change a user's profile, ban or erase a user, or lift a ban; has no room.
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
    /// True if the sender has the rights of an owner in the room or, for a change without a room, those of an admin.
    public var isAdmin: Bool
    /// True if the change is only decided, not made. Its outcome is ``Receipt/permitted(_:)`` if it would change a message.
    public var isTrial: Bool
    /// The time when the request had arrived completely. The clock also counts the time for which the process was
    /// stopped, see ``LogObserver/abandoned(_:)``.
    public var arrival: ContinuousClock.Instant

    /// Age from which on a client may have given up, so that its connection is looked at before the commit: 1 second.
    public static let youth = Duration.seconds(1)

    /// The user whose membership or ban is changed, who is blocked or written to, or who is erased; `nil` for other changes.
    public var subject: UserID? {
        switch change {
        case .send, .change, .read, .room(.set), .room(.delete), .room(.report), .room(.closeReport), .room(.setNotify):
            nil
        case .room(.setMember(let user, _)), .room(.removeMember(let user)), .room(.setBan(let user, _)),
            .room(.removeBan(let user)), .room(.setDirect(let user)),
            .room(.setBlock(let user, _)), .user(let user, _):
            user
        }
    }

    /// Creates a change by `sender` to `room`, answered under `ticket`.
    public init(
        ticket: Ticket, room: RoomID?, sender: UserID, change: Change, isAdmin: Bool = false,
        isTrial: Bool = false, arrival: ContinuousClock.Instant = .now
    ) {
        self.isTrial = isTrial
        self.arrival = arrival
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
    /// The message as a trial would have stored it. Nothing was stored, so its `seq`, `rev` and time may become others.
    case permitted(StoredMessage)
    /// The position of the user's read mark. `hasMoved` is false if the mark was there already, or further on.
    case readMark(seq: Int64, hasMoved: Bool)
    /// A room, a membership, a lifted ban or a removed block. `isNew` is true if the room or the membership was created, or
    /// if there was a block.
    case room(isNew: Bool)
    /// The JSON object of a ban, a block, a report or an erasure. `isNew` is true if there was none before.
    case record([UInt8], isNew: Bool)

    /// True if the change created something: a message, a room, a membership, a ban, a block or an erasure.
    public var isNew: Bool {
        switch self {
        case .message(_, let isNew), .room(let isNew), .record(_, let isNew): isNew
        case .readMark, .permitted: false
        }
    }
}

/// A stored message.
public struct StoredMessage: Sendable, Hashable {
    /// The number of the message in its room.
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

/// The changes of one room between two revisions: a subscriber that has everything up to ``since`` has everything up to
/// ``rev`` after the batch.
///
/// The batch of a commit contains a message once for each change, so its revisions are consecutive. A batch that was
/// read from the log contains each changed message once, with its latest revision, so revisions may be missing in
/// between.
public struct Batch: Sendable {
    /// Revisions that are not consecutive.
    public struct Revisions: Sendable, Hashable {
        /// The revision of each message, ascending.
        public var revs: [Int64]
        /// The revision after the batch. It is higher than the last message's if the message with this revision no
        /// longer exists.
        public var end: Int64
    }

    /// The room.
    public var room: RoomID
    /// The revision before the batch.
    public var since: Int64
    /// The room's highest `seq` after the batch.
    public var head: Int64
    /// The messages' snapshots, new and changed ones, in the order of their revisions.
    public var messages: [[UInt8]]
    /// The messages' revisions; `nil` if they are consecutive, starting after ``since``.
    public private(set) var revisions: Revisions?

    /// Creates the batch of a commit, whose messages have consecutive revisions.
    public init(room: RoomID, firstRev: Int64, head: Int64, messages: [[UInt8]]) {
        self.room = room
        since = firstRev - 1
        self.head = head
        self.messages = messages
    }

    /// Creates a batch that was read from the log.
    ///
    /// - Parameters:
    ///   - revs: The revision of each message, ascending, after `since`.
    ///   - rev: The revision after the batch, at least the last message's.
    public init(room: RoomID, since: Int64, revs: [Int64], rev: Int64, head: Int64, messages: [[UInt8]]) {
        self.room = room
        self.since = since
        self.head = head
        self.messages = messages
        let areConsecutive = rev - since == Int64(revs.count)
        if !areConsecutive { revisions = Revisions(revs: revs, end: rev) }
    }

    /// The revision up to which a subscriber has everything after the batch.
    public var rev: Int64 { revisions?.end ?? since + Int64(messages.count) }

    /// Returns the index of the message with this revision; `nil` if there is none.
    public func index(of rev: Int64) -> Int? {
        if let revisions { return revisions.revs.firstIndex(of: rev) }
        let index = rev - since - 1
        return index >= 0 && index < Int64(messages.count) ? Int(index) : nil
    }
}
