public import Wire

/// The log of all rooms. It makes changes durable and reads history.
///
/// No call blocks. Results are reported to the ``LogObserver`` on one of the log's threads, many at a time: one commit
/// or one round of reads is one call. A submission carries a ``Ticket``, and its outcome has the same one; a query
/// carries the ``Reply`` that takes its answer.
///
/// Submissions of one thread to one room are committed in the order in which they were submitted. A query sees every commit that
/// was reported before the query was made.
public protocol MessageLog: Sendable {
    /// A random name of the history, created with the database and replaced when a restored backup is opened. A cursor
    /// with another epoch belongs to another history.
    var epoch: String { get }

    /// The bans in force. The log enforces them on changes and queries; callers must check other actions themselves.
    var bans: BanTable { get }

    /// The time until which messages may be sent to subscribers without another look at revoked access.
    var accessTerm: AccessTerm { get }

    /// Queues changes for the next commit, all that one turn of a loop has collected.
    ///
    /// If the queue is full, the outcome is ``Problem`` `overloaded` (503), delivered like any other.
    func submit(_ submissions: [Submission])

    /// Queues reads. They run in transactions that see every commit reported before, never on the calling thread.
    ///
    /// Clients are served in turn. If the queue is full, or the client has too many reads in it, the answer is
    /// ``Problem`` `overloaded` (503).
    func fetch(_ queries: [Query])

    /// Removes reads from the queue whose answers are no longer needed. Their replies are not reported, except those of
    /// reads that are already running.
    func cancel(_ replies: [any PendingReply])
}

/// Receives the results of a log. Calls come on the log's own threads, except when a queue is full or closed: then the
/// call comes on the submitting thread, before the submission returns. Implementations must return quickly.
public protocol LogObserver: Sendable {
    /// A durable commit has changed memberships. Changes are in commit order, also across calls. Called before
    /// ``committed(_:_:)`` of the same commit, on the same thread.
    func membershipsChanged(_ changes: [MembershipChange])

    /// A durable commit has revoked access. Called before ``committed(_:_:)`` of the same commit, on the same thread,
    /// so that revoked subscriptions end before anybody learns of the commit.
    func accessEnded(_ ends: [AccessEnd])

    /// A commit is durable, or has failed, as the outcomes say.
    ///
    /// - Parameters:
    ///   - outcomes: One for each submission in the commit, in the order of submission.
    ///   - batches: The changes for subscribers, one batch for each changed room; empty if the commit failed.
    func committed(_ outcomes: [Outcome], _ batches: [Batch])

    /// Queries were answered, or have failed, as their replies say.
    func fetched(_ replies: [any PendingReply])

    /// Returns those of the submissions whose clients no longer wait for the outcome: they have closed the connection.
    ///
    /// Asked before a submission that is no longer young is committed. Its client may have given up, and have repeated
    /// the request elsewhere, while this process was stopped. The call may wait for the loops, but not for long.
    func abandoned(_ tickets: [Ticket]) -> Set<Ticket>
}

extension LogObserver {
    /// Returns none: without connections nobody can give up.
    public func abandoned(_ tickets: [Ticket]) -> Set<Ticket> { [] }
}

extension MessageLog {
    /// A term without an end.
    public var accessTerm: AccessTerm { .unlimited }
}

/// The destination of an outcome: the loop that asked, and its own number for the request.
///
/// Only two integers cross threads; the handler waiting for the outcome stays on its loop.
public struct Ticket: Sendable, Hashable {
    /// The index of the loop that asked.
    public var loop: Int
    /// The loop's number for the request, never reused.
    public var number: UInt64

    /// Creates a ticket for request `number` of loop `loop`.
    public init(loop: Int, number: UInt64) {
        self.loop = loop
        self.number = number
    }
}

/// A change of a user's own rooms that a commit made: the rooms of which the user is a member, without hidden direct rooms.
public struct MembershipChange: Sendable, Hashable {
    /// The kind of change.
    public enum Kind: Sendable, Hashable {
        /// The user became a member or an owner, or a hidden direct room of the user is shown again. The room was at this
        /// revision before the commit, so the commit's own messages have higher ones, even if the user created the room by
        /// sending to it.
        case joined(rev: Int64)
        /// The user is no longer a member, or a direct room of the user is hidden.
        case left
    }

    /// The user.
    public var user: UserID
    /// The room.
    public var room: RoomID
    /// The kind of change.
    public var kind: Kind

    /// Creates a change.
    public init(user: UserID, room: RoomID, kind: Kind) {
        self.user = user
        self.room = room
        self.kind = kind
    }
}

/// Access that a commit has revoked. Existing subscriptions and sockets that relied on it end.
public enum AccessEnd: Sendable, Hashable {
    /// The room was deleted, for everybody.
    case roomDeleted(RoomID)
    /// A user was banned from a room, or with `nil` from the whole server.
    case banned(Ban, from: RoomID?)
    /// A user was erased. Anybody who uses the name from now on is a new user.
    case erased(UserID)
    /// A user is no longer a member of a room. Subscriptions end even if the room is open: the user can subscribe again
    /// like anybody else.
    case removed(UserID, from: RoomID)
    /// An open room is private from now on.
    case becamePrivate(RoomID)
    /// Commits were missed that changed access or memberships, so any may have changed. All subscriptions and sockets
    /// end, and clients reconnect to the rooms that they may read.
    case unknown
}
