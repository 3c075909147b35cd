public import Wire

/// One read of a room's log, of all rooms of a user, or of the whole server.
///
/// A class, because it moves through the queue of readers, and a copy of a struct would retain each part of the read
/// (scenario F of `scripts/compare`).
public final class Query: Sendable {
    /// A room, a list of a user, or the server to read. Each read carries the reply that takes its answer, so the type of the answer
    /// follows from the read.
    public enum Kind: Sendable {
        /// A room that the user may read.
        case room(RoomID, RoomRead)
        /// The rooms or mentions of the user; those of rooms that match one of the patterns, if there are any.
        case ownRooms(OwnRoomsRead, within: [RoomPattern]?)
        /// A read of something else of the user's own, such as blocks.
        case own(OwnRead)
        /// The messages that match a search, newest first: those of a room, or else of all rooms of the user; those of rooms that
        /// match one of the patterns, if there are any.
        case search(SearchRequest, in: RoomID?, within: [RoomPattern]?, Reply<SearchSlice>)
        /// The profiles of users, at most ``Limits/profiles``; those who have none are left out.
        case profiles([UserID], Reply<Profiles>)
        /// The whole server; for admins.
        case server(ServerRead)
    }

    /// A read of one room.
    public enum RoomRead: Sendable {
        /// A page of messages by `seq`.
        case page(PageRequest, Reply<PageSlice>)
        /// The message at `seq`; `nil` if there is none.
        case message(seq: Int64, Reply<StoredMessage?>)
        /// The message that `sender` sent under this client message id; `nil` if there is none.
        case clientMessage(sender: UserID, id: String, Reply<StoredMessage?>)
        /// Messages that changed after `since`, oldest change first, at most `limit`.
        case changes(since: Int64, limit: Int, Reply<ChangeSlice>)
        /// Messages that changed after `since` for a subscriber: encoded frames in `format`, about `bytes` bytes at
        /// most, but at least one message. Without `since`, only the room's state.
        case replay(since: Int64?, format: PushFormat, bytes: Int, Reply<ReplaySlice>)
        /// The room's state.
        case state(Reply<RoomState>)
        /// The room as the user sees it.
        case summary(Reply<RoomSummary>)
        /// The members after a user in byte order of the ids, at most `limit`, with or without their profiles.
        case members(after: UserID?, limit: Int, withProfiles: Bool = false, Reply<RoomMembers>)
        /// One member; `nil` if the user is none.
        case member(UserID, Reply<RoomMember?>)
        /// The read marks at or beyond `from` of users after a user in byte order of the ids, at most `limit`.
        case reads(after: UserID?, from: Int64, limit: Int, Reply<RoomReads>)
        /// The users after a user, in byte order of the ids, who reacted to the message at `seq` with a key, at most `limit`;
        /// `nil` if there is no message.
        case reactions(seq: Int64, ReactionKey, after: UserID?, limit: Int, Reply<ReactingUsers?>)
        /// The pinned messages, latest first: those pinned before a revision, at most `limit`.
        case pins(before: Int64?, limit: Int, Reply<PinSlice>)
        /// True in a direct room whose other user blocks the reader.
        case isBlocked(Reply<Bool>)
        /// Bans from the room; for its owners and admins.
        case bans(BanRead)
    }

    /// A read of bans.
    public enum BanRead: Sendable {
        /// The bans after a user in byte order of the ids, at most `limit`.
        case all(after: UserID?, limit: Int, Reply<Bans>)
        /// The ban of a user; `nil` if there is none.
        case one(UserID, Reply<Ban?>)
    }

    /// A read of the rooms that a user is a member of, or of the user's mentions.
    public enum OwnRoomsRead: Sendable {
        /// The rooms as the user sees them, latest activity first.
        case inbox(InboxRequest, Reply<InboxSlice>)
        /// The ids of the rooms, at most `limit`: first those that the user has sent to, read, created or joined, then
        /// the others; in each group latest activity first.
        case memberships(limit: Int, Reply<Memberships>)
        /// The messages that mention the user, or a room that the user is a member of, newest first.
        case mentions(MentionsRequest, Reply<MentionsSlice>)
    }

    /// A read of what is a user's own, in no room.
    public enum OwnRead: Sendable {
        /// The blocks after a user in byte order of the ids, at most `limit`.
        case blocks(after: UserID?, limit: Int, Reply<Blocks>)
    }

    /// A read of the whole server.
    public enum ServerRead: Sendable {
        /// All rooms, latest activity first.
        case rooms(InboxRequest, Reply<AdminRooms>)
        /// A user, and the rooms that the user is a member of: those after `after`, at most `limit`.
        case user(UserID, after: RoomID?, limit: Int, Reply<AdminUser>)
        /// The progress of a user's erasure; `nil` if there was none.
        case erasure(UserID, Reply<ErasureStatus?>)
        /// Bans from the whole server.
        case bans(BanRead)
        /// Reported messages.
        case reports(ReportsRequest, Reply<Reports>)
    }

    /// The subject of the read, and the read.
    public let kind: Kind
    /// The reply that ``kind`` carries, whatever its type.
    public let reply: any PendingReply
    /// The reader, whose read mark ``Place/read`` and ``Place/unread`` refer to; `nil` without a name.
    public let user: UserID?
    /// True if the user may read any room.
    public let isAdmin: Bool

    /// Creates a read for `user`.
    ///
    /// - Parameter kind: Returns the read with the reply to put into it.
    public init<Value>(
        _ reply: Reply<Value>, for user: UserID? = nil, isAdmin: Bool = false, _ kind: (Reply<Value>) -> Kind
    ) {
        self.kind = kind(reply)
        self.reply = reply
        self.user = user
        self.isAdmin = isAdmin
    }

    /// The room to read; `nil` for reads of several rooms or of none.
    public var room: RoomID? {
        switch kind {
        case .room(let room, _): room
        case .search(_, let room, _, _): room
        default: nil
        }
    }
}

/// The reply to a query, whatever the type of its answer.
public protocol PendingReply: AnyObject, Sendable {
    /// The index of the loop that asked.
    var loop: Int { get }
    /// The client. Readers serve clients in turn.
    var client: QueryClient { get }

    /// Sets the reason why there is no answer: a refusal, or `unavailable` (503) if the database failed. Called by the
    /// log, once.
    func fail(_ problem: Problem)
    /// Keeps an object until the reply is delivered or destroyed. Called by the log, before it reports the reply.
    func hold(_ object: any AnyObject & Sendable)
    /// Hands the result to the closure that waits for it. Called on the loop, after the log has reported the reply.
    func deliver()
    /// Drops the closure that waits for the result. Called on the loop.
    ///
    /// - Returns: False if the reply was delivered or cancelled before.
    func cancel() -> Bool
}

// Sendable because each part has one user at a time: the log sets the result before it reports the reply, and the loop
// reads it afterwards; the closure is touched, and so released, on the loop only.
/// The answer to one query, on its way from the log to the loop that asked.
///
/// The initializer and ``answer(_:)`` are inlinable, so that other modules specialize them for their values. `deliver` is
/// called through ``PendingReply``, and therefore leaves the value to the closure (scenario F of `scripts/compare`).
public final class Reply<Value: Sendable>: PendingReply, @unchecked Sendable {
    /// The index of the loop that asked.
    public let loop: Int
    /// The client.
    public let client: QueryClient
    @usableFromInline var then: ((Reply) -> Void)?
    @usableFromInline var stored: Result<Value, Problem>?
    @usableFromInline var held: (any AnyObject & Sendable)?

    /// The answer, or the reason why there is none; `nil` before the log has set it and after its delivery. A socket
    /// keeps its last reply, which must not keep the bytes of the answer.
    public var result: Result<Value, Problem>? { stored }

    /// Creates a reply that calls `then` on the loop.
    @inlinable public init(loop: Int, client: QueryClient, then: @escaping (Result<Value, Problem>) -> Void) {
        self.loop = loop
        self.client = client
        self.then = { reply in
            if let result = reply.stored.take() { then(result) }
        }
    }

    /// Sets the answer. Called by the log, once.
    @inlinable public func answer(_ value: Value) { stored = .success(value) }

    /// Sets the reason why there is no answer.
    public func fail(_ problem: Problem) { stored = .failure(problem) }

    /// Keeps an object until the delivery, such as a share of a budget.
    public func hold(_ object: any AnyObject & Sendable) { held = object }

    /// Hands the result to the closure that waits for it, and keeps neither.
    public func deliver() {
        then.take()?(self)
        if held != nil { held = nil }
    }

    /// Drops the closure that waits for the result; false if it was called or dropped before.
    public func cancel() -> Bool { then.take() != nil }
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

/// The ids of rooms that a user is a member of.
public struct Memberships: Sendable {
    /// The ids, in the order of the query.
    public var rooms: [RoomID]
    /// True if there are more.
    public var hasMore: Bool

    /// Creates a list of rooms.
    public init(rooms: [RoomID], hasMore: Bool) {
        self.rooms = rooms
        self.hasMore = hasMore
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

/// Changed messages, encoded for one subscriber.
public struct ReplaySlice: Sendable {
    /// The encoded frames in ascending `rev`.
    public var frames: [UInt8]
    /// The revision up to which the subscriber has everything after these frames.
    public var rev: Int64
    /// True if more messages have changed than the slice contains.
    public var hasMore: Bool
    /// The room's state in the same transaction.
    public var state: RoomState

    /// Creates a slice of the frames up to `rev`.
    public init(frames: [UInt8], rev: Int64, hasMore: Bool, state: RoomState) {
        self.frames = frames
        self.rev = rev
        self.hasMore = hasMore
        self.state = state
    }
}
