public import Wire

/// One read of a room's log, or of all rooms of a user.
public struct Query: Sendable {
    /// The kind of read.
    public enum Kind: Sendable {
        /// A page of messages by `seq`.
        case page(PageRequest)
        /// The message at `seq`.
        case message(seq: Int64)
        /// The message that `sender` sent under this client message id.
        case clientMessage(sender: UserID, id: String)
        /// Messages that changed after `since`, oldest change first, at most `limit`.
        case changes(since: Int64, limit: Int)
        /// Messages that changed after `since` for a subscriber: encoded frames in `format`, about `bytes` bytes at
        /// most, but at least one message. Without `since`, only the room's state.
        case replay(since: Int64?, format: PushFormat, bytes: Int)
        /// The room's state.
        case state
        /// The room as the user sees it.
        case summary
        /// The members after a user in byte order of the ids, at most `limit`.
        case members(after: UserID?, limit: Int)
        /// One member.
        case member(UserID)
        /// The bans after a user in byte order of the ids, at most `limit`: from the room, or without a room from the
        /// whole server.
        case bans(after: UserID?, limit: Int)
        /// One ban.
        case ban(UserID)
        /// The progress of a user's erasure. Has no room; for admins.
        case erasure(UserID)
        /// All rooms, latest activity first. Has no room; for admins.
        case allRooms(InboxRequest)
        /// A user, and the rooms that the user is a member of: those after `after`, at most `limit`. Has no room; for
        /// admins.
        case user(UserID, after: RoomID?, limit: Int)
        /// The rooms that the user is a member of, latest activity first, as the user sees them. Has no room.
        case inbox(InboxRequest, within: [RoomPattern]?)
        /// The ids of the rooms that the user is a member of, at most `limit`: first those that the user has sent to, read,
        /// created or joined, then the others; in each group latest activity first. Has no room.
        case memberships(limit: Int, within: [RoomPattern]?)
    }

    /// The destination of the answer.
    public var ticket: Ticket
    /// The room to read; `nil` for queries about no single room.
    public var room: RoomID?
    /// The kind of read.
    public var kind: Kind
    /// The reader, whose read mark ``Place/read`` and ``Place/unread`` refer to; `nil` without a name.
    public var user: UserID?
    /// True if the user may read any room.
    public var isAdmin: Bool
    /// The asker. Readers serve askers in turn, and queries are cancelled by asker and ticket.
    public var asker: Asker

    /// Creates a read of `room` for `user`, answered under `ticket`.
    ///
    /// - Parameter asker: By default the user, or one shared asker for all callers without a name.
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

/// The framing of a pushed message.
public enum PushFormat: Sendable, Hashable {
    /// A WebSocket text frame around `{"type":"message","message":…}` (RFC 6455, section 5.2).
    case webSocket
    /// A WebSocket text frame, compressed where that makes it shorter (RFC 7692, section 7.2.1).
    case deflatedWebSocket
    /// A Server-Sent Event: `event: message`, `id: EPOCH:REV`, and the same JSON as `data` (WHATWG HTML, 9.2).
    case serverSentEvents
}

/// The answer to a ``Query``.
public struct Answer: Sendable {
    /// The result of the read.
    public enum Content: Sendable {
        /// For ``Query/Kind/page(_:)``.
        case page(PageSlice)
        /// For ``Query/Kind/message(seq:)`` and ``Query/Kind/clientMessage(sender:id:)``: the message, or `nil` if
        /// there is none.
        case message(Stored?)
        /// For ``Query/Kind/changes(since:limit:)``.
        case changes(ChangeSlice)
        /// For ``Query/Kind/replay(since:format:bytes:)``.
        case replay(ReplaySlice)
        /// For ``Query/Kind/state``.
        case state(RoomState)
        /// For ``Query/Kind/summary``.
        case summary(RoomSummary)
        /// For ``Query/Kind/members(after:limit:)``, and for ``Query/Kind/member(_:)`` with at most one member.
        case members(RoomMembers)
        /// For ``Query/Kind/bans(after:limit:)``, and for ``Query/Kind/ban(_:)`` with at most one ban.
        case bans(Bans)
        /// For ``Query/Kind/erasure(_:)``; `nil` if there was none.
        case erasure(ErasureStatus?)
        /// For ``Query/Kind/allRooms(_:)``.
        case allRooms(AdminRooms)
        /// For ``Query/Kind/user(_:after:limit:)``.
        case user(AdminUser)
        /// For ``Query/Kind/inbox(_:within:)``.
        case inbox(InboxSlice)
        /// For ``Query/Kind/memberships(limit:within:)``: the rooms, and whether there are more.
        case memberships([RoomID], hasMore: Bool)
    }

    /// The query's ticket.
    public var ticket: Ticket
    /// The result of the read, or the reason why it failed (`unavailable`, 503, if the database failed).
    public var result: Result<Content, Problem>

    /// Creates the answer to the query with this ticket.
    public init(ticket: Ticket, result: Result<Content, Problem>) {
        self.ticket = ticket
        self.result = result
    }
}

/// The state of a room. A room that was never used is at 0 and 0.
public struct RoomState: Sendable, Hashable {
    /// The highest `seq`.
    public var head: Int64
    /// The latest revision.
    public var rev: Int64

    /// Creates the state of a room at this `seq` and revision.
    public init(head: Int64 = 0, rev: Int64 = 0) {
        self.head = head
        self.rev = rev
    }
}

/// A page of messages, read in one snapshot.
public struct PageSlice: Sendable {
    /// The messages' snapshots in ascending `seq`, joined by commas.
    public var messages: [UInt8]
    /// The number of messages.
    public var count: Int
    /// The `seq` of the first message; 0 if there is none.
    public var firstSeq: Int64
    /// The `seq` of the last message; 0 if there is none.
    public var lastSeq: Int64
    /// True if the room has messages before the page.
    public var hasBefore: Bool
    /// True if the room has messages after the page.
    public var hasAfter: Bool
    /// The room's state in the same snapshot.
    public var state: RoomState
    /// The reader's mark and number of unread messages in the same snapshot; `nil` unless the page was requested by a
    /// personal place.
    public var readState: ReadState?

    /// Creates a page of `count` messages.
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

/// Changed messages, read in one snapshot.
public struct ChangeSlice: Sendable {
    /// The messages' snapshots in ascending `rev`, joined by commas.
    public var messages: [UInt8]
    /// The revision to pass as `since` for the next slice.
    public var rev: Int64
    /// True if more messages have changed than the slice contains.
    public var hasMore: Bool
    /// The room's state in the same snapshot.
    public var state: RoomState

    /// Creates a slice of the changes up to `rev`.
    public init(messages: [UInt8], rev: Int64, hasMore: Bool, state: RoomState) {
        self.messages = messages
        self.rev = rev
        self.hasMore = hasMore
        self.state = state
    }
}

/// Changed messages, encoded for one subscriber.
public struct ReplaySlice: Sendable {
    /// The encoded frames in ascending `rev`.
    public var frames: [UInt8]
    /// The revision up to which the subscriber has everything after these frames.
    public var rev: Int64
    /// True if more messages have changed than the slice contains.
    public var hasMore: Bool
    /// The room's state in the same snapshot.
    public var state: RoomState

    /// Creates a slice of the frames up to `rev`.
    public init(frames: [UInt8], rev: Int64, hasMore: Bool, state: RoomState) {
        self.frames = frames
        self.rev = rev
        self.hasMore = hasMore
        self.state = state
    }
}
