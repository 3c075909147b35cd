public import Wire

/// One read of a room's log, or of what a user has of all rooms.
public struct Query: Sendable {
    /// What is to be read.
    public enum Kind: Sendable {
        /// A page of messages by `seq`.
        case page(PageRequest)
        /// The message at a place.
        case message(seq: Int64)
        /// The message that `sender` sent under this client message id.
        case clientMessage(sender: UserID, id: String)
        /// What changed after `since`, oldest change first, at most `limit` messages.
        case changes(since: Int64, limit: Int)
        /// The same for a subscriber: ready frames in `format`, about `bytes` of them at most (one message at least).
        /// Without `since`, no frames: just the room's state.
        case replay(since: Int64?, format: PushFormat, bytes: Int)
        /// The room's state.
        case state
        /// The room as the user sees it.
        case summary
        /// The members behind a user in the order of their ids' bytes, at most `limit`.
        case members(after: UserID?, limit: Int)
        /// One member.
        case member(UserID)
        /// The bans behind a user in the order of their users' bytes, at most `limit`: from the room, or of no room from the
        /// whole server.
        case bans(after: UserID?, limit: Int)
        /// One ban.
        case ban(UserID)
        /// The progress of a user's erasure. Of no room, for admins.
        case erasure(UserID)
        /// All rooms, latest activity first. Of no room, for admins.
        case allRooms(InboxRequest)
        /// A user, and the rooms that it is a member of: those behind `after`, at most `limit`. Of no room, for admins.
        case user(UserID, after: RoomID?, limit: Int)
        /// The rooms that the user is a member of, latest activity first, as the user sees them. Of no room.
        case inbox(InboxRequest, within: [RoomPattern]?)
        /// Which those rooms are, in the same order, at most `limit`. Of no room.
        case memberships(limit: Int, within: [RoomPattern]?)
    }

    /// Where the answer goes.
    public var ticket: Ticket
    /// The room to read; `nil` for what is of all rooms of the user.
    public var room: RoomID?
    /// What is to be read.
    public var kind: Kind
    /// The reader, whose read mark ``Place/read`` and ``Place/unread`` go by; `nil` for somebody without a name.
    public var user: UserID?
    /// True if the user may read any room.
    public var isAdmin: Bool
    /// The party that the query is made for: with whose other queries it waits, and the key to cancel it by.
    public var asker: Asker

    /// A read of `room` for `user`, answered under `ticket`.
    ///
    /// - Parameter asker: the user by default, or without one all who are not told apart.
    public init(
        ticket: Ticket, room: RoomID?, kind: Kind, user: UserID? = nil, isAdmin: Bool = false, asker: Asker? = nil
    ) {
        self.ticket = ticket
        self.room = room
        self.kind = kind
        self.user = user
        self.isAdmin = isAdmin
        self.asker = asker ?? Asker(user, or: .connection(0))
    }
}

/// How a pushed message is framed.
public enum PushFormat: Sendable, Hashable {
    /// A WebSocket text frame around `{"type":"message","message":…}` (RFC 6455, section 5.2).
    case webSocket
    /// The same, compressed where that makes it shorter (RFC 7692, section 7.2.1).
    case deflatedWebSocket
    /// A Server-Sent Event: `event: message`, `id: EPOCH:REV`, and the same JSON as `data` (WHATWG HTML, 9.2).
    case serverSentEvents
}

/// The answer to a ``Query``.
public struct Answer: Sendable {
    /// What was read.
    public enum Content: Sendable {
        /// To ``Query/Kind/page(_:)``.
        case page(PageSlice)
        /// To ``Query/Kind/message(seq:)`` and ``Query/Kind/clientMessage(sender:id:)``: the message, or `nil`
        /// when there is none.
        case message(Stored?)
        /// To ``Query/Kind/changes(since:limit:)``.
        case changes(ChangeSlice)
        /// To ``Query/Kind/replay(since:format:bytes:)``.
        case replay(ReplaySlice)
        /// To ``Query/Kind/state``.
        case state(RoomState)
        /// To ``Query/Kind/summary``.
        case summary(RoomSummary)
        /// To ``Query/Kind/members(after:limit:)``, and to ``Query/Kind/member(_:)``: of one member or none.
        case members(RoomMembers)
        /// To ``Query/Kind/bans(after:limit:)``, and to ``Query/Kind/ban(_:)``: of one user or none.
        case bans(Bans)
        /// To ``Query/Kind/erasure(_:)``; `nil` when there was none.
        case erasure(ErasureStatus?)
        /// To ``Query/Kind/allRooms(_:)``.
        case allRooms(AdminRooms)
        /// To ``Query/Kind/user(_:after:limit:)``.
        case user(AdminUser)
        /// To ``Query/Kind/inbox(_:within:)``.
        case inbox(InboxSlice)
        /// To ``Query/Kind/memberships(limit:within:)``: the rooms, and whether there are more.
        case memberships([RoomID], hasMore: Bool)
    }

    /// The query's ticket.
    public var ticket: Ticket
    /// What was read, or why it could not be (`unavailable`, 503, when the database failed).
    public var result: Result<Content, Problem>

    /// The answer to the query with this ticket.
    public init(ticket: Ticket, result: Result<Content, Problem>) {
        self.ticket = ticket
        self.result = result
    }
}

/// How far a room has come. A room that nobody has used is at 0 and 0.
public struct RoomState: Sendable, Hashable {
    /// The highest `seq`.
    public var head: Int64
    /// The latest revision.
    public var rev: Int64

    /// A room at this `seq` and revision.
    public init(head: Int64 = 0, rev: Int64 = 0) {
        self.head = head
        self.rev = rev
    }
}

/// A page as read in one snapshot.
public struct PageSlice: Sendable {
    /// The messages' snapshots in ascending `seq`, joined by commas.
    public var messages: [UInt8]
    /// The number of messages.
    public var count: Int
    /// The `seq` of the first message; 0 when there is none.
    public var firstSeq: Int64
    /// The `seq` of the last message; 0 when there is none.
    public var lastSeq: Int64
    /// True if the room has messages before this place.
    public var hasBefore: Bool
    /// True if the room has messages after this place.
    public var hasAfter: Bool
    /// The room in the same snapshot.
    public var state: RoomState
    /// The reader's mark and unread messages in the same snapshot; `nil` unless the page was asked with a personal place.
    public var readState: ReadState?

    /// A page of `count` messages.
    public init(
        messages: [UInt8], count: Int, firstSeq: Int64, lastSeq: Int64, hasBefore: Bool, hasAfter: Bool,
        state: RoomState, readState: ReadState? = nil
    ) {
        self.messages = messages
        self.count = count
        self.firstSeq = firstSeq
        self.lastSeq = lastSeq
        self.hasBefore = hasBefore
        self.hasAfter = hasAfter
        self.state = state
        self.readState = readState
    }
}

/// Changed messages as read in one snapshot.
public struct ChangeSlice: Sendable {
    /// The messages' snapshots in ascending `rev`, joined by commas.
    public var messages: [UInt8]
    /// What to pass as `since` for what follows.
    public var rev: Int64
    /// True if more had changed than is in this slice.
    public var hasMore: Bool
    /// The room in the same snapshot.
    public var state: RoomState

    /// Changed messages up to `rev`.
    public init(messages: [UInt8], rev: Int64, hasMore: Bool, state: RoomState) {
        self.messages = messages
        self.rev = rev
        self.hasMore = hasMore
        self.state = state
    }
}

/// Changed messages, framed for one subscriber.
public struct ReplaySlice: Sendable {
    /// Ready frames in ascending `rev`.
    public var frames: [UInt8]
    /// The revision up to which the subscriber has everything once it has these frames.
    public var rev: Int64
    /// True if more had changed than is in this slice.
    public var hasMore: Bool
    /// The room in the same snapshot.
    public var state: RoomState

    /// Frames up to `rev`.
    public init(frames: [UInt8], rev: Int64, hasMore: Bool, state: RoomState) {
        self.frames = frames
        self.rev = rev
        self.hasMore = hasMore
        self.state = state
    }
}
