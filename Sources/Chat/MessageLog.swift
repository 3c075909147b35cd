/// The log of every room: where changes are made durable and from where history is read.
///
/// Nothing here blocks. A question carries a ``Ticket``, and its answer comes back to the ``LogObserver`` with the same
/// ticket, on a thread of the log's own, many answers at a time: one commit or one round of reads is one call.
///
/// Order: submissions of one thread are committed in the order in which they were submitted. A query sees every
/// commit that was observed before the query was made.
public protocol MessageLog: Sendable {
    /// A random name, made with the database, and anew when one is opened that was restored from a backup. A cursor of
    /// another epoch speaks of another history.
    var epoch: String { get }

    /// The bans in force. The log refuses changes and queries by it; whatever else a user does is held against it by others.
    var bans: BanTable { get }

    /// Queues changes for the next commit: what one turn of a loop has gathered, at once.
    ///
    /// When the queue is full the outcome is ``Problem`` `overloaded` (503), delivered like any other.
    func submit(_ submissions: [Submission])

    /// Queues reads. They run in snapshots that see every commit observed before, never on the calling thread.
    ///
    /// Askers are served in turn. When the queue is full, or the asker has too many reads in it, the answer is
    /// ``Problem`` `overloaded` (503).
    func fetch(_ queries: [Query])

    /// Removes reads that nobody waits for any more from the queue. There is no answer to those; one that is being served is
    /// answered all the same.
    func cancel(_ queries: [(ticket: Ticket, asker: Asker)])
}

/// Who hears what the log has done. The calls come on the log's own threads, but for what finds a queue full or closed:
/// that is said on the thread that asked, before it goes on. They must return quickly.
public protocol LogObserver: Sendable {
    /// A commit is durable in which users have become members of rooms, or are none any more: in the order in which
    /// that happened, also from one commit to the next. Before ``committed(_:_:)`` of the same commit, and on the same
    /// thread.
    func membershipsChanged(_ changes: [MembershipChange])

    /// A commit is durable that has ended what some subscribers had. Before ``committed(_:_:)`` of the same commit, and
    /// on the same thread: what is refused from then on was ended before anybody heard that the commit has lasted.
    func accessEnded(_ ends: [AccessEnd])

    /// A commit is durable (or has failed, which the outcomes say).
    ///
    /// - Parameters:
    ///   - outcomes: one for each submission that the commit held, in the order in which they were submitted.
    ///   - batches: what subscribers must now see, one for each room changed; empty when the commit failed.
    func committed(_ outcomes: [Outcome], _ batches: [Batch])

    /// Queries have been answered.
    func fetched(_ answers: [Answer])
}

/// Where an answer goes: the loop that asked, and that loop's own number for the question.
///
/// Two integers, so that what waits for the answer never leaves its loop.
public struct Ticket: Sendable, Hashable {
    /// The index of the loop that asked.
    public var loop: Int
    /// The loop's number for the question, never reused.
    public var number: UInt64

    /// A ticket for question `number` of loop `loop`.
    public init(loop: Int, number: UInt64) {
        self.loop = loop
        self.number = number
    }
}
