import Chat
import Synchronization
import TestSupport

/// Records the events of a log, and lets a test wait for them.
final class Listener: LogObserver {
    /// One call of ``LogObserver/committed(_:_:)``.
    struct Commit: Sendable {
        var outcomes: [Outcome]
        var batches: [Batch]
    }

    /// The outcomes, call by call.
    let commits = Recorder<Commit>()
    /// The membership changes, call by call.
    let memberships = Recorder<[MembershipChange]>()
    /// The revoked access, call by call.
    let ends = Recorder<[AccessEnd]>()
    /// The replies, call by call.
    let rounds = Recorder<[any PendingReply]>()
    /// Called on the log's thread before a commit is recorded.
    let onCommitted = Mutex<(@Sendable () -> Void)?>(nil)
    /// Called on the log's thread before answers are recorded.
    let onFetched = Mutex<(@Sendable () -> Void)?>(nil)

    /// The tickets whose clients have gone.
    let abandoned = Mutex<Set<Ticket>>([])
    /// The tickets that were asked for.
    let asked = Mutex<Set<Ticket>>([])

    func abandoned(_ tickets: [Ticket]) -> Set<Ticket> {
        asked.withLock { $0.formUnion(tickets) }
        return abandoned.withLock { $0 }
    }

    private let results = Mutex(Results())
    private let replies = Mutex(Replies())

    /// The outcomes under each ticket, and the number of calls.
    private struct Results {
        var byTicket: [Ticket: Outcome] = [:]
        var calls = 0
    }

    /// The replies that were reported, and the number of calls.
    private struct Replies {
        var reported: Set<ObjectIdentifier> = []
        var calls = 0
    }

    func membershipsChanged(_ changes: [MembershipChange]) {
        memberships.record(changes)
    }

    func accessEnded(_ ends: [AccessEnd]) {
        self.ends.record(ends)
    }

    func committed(_ outcomes: [Outcome], _ batches: [Batch]) {
        onCommitted.withLock { $0 }?()
        commits.record(Commit(outcomes: outcomes, batches: batches))
    }

    func fetched(_ replies: [any PendingReply]) {
        onFetched.withLock { $0 }?()
        rounds.record(replies)
    }

    /// Waits for the outcomes of these submissions. By then the calls are in ``commits``.
    func outcomes(_ tickets: [Ticket]) throws -> [Outcome] {
        try commits.wait { commits in
            results.withLock { results in
                for commit in commits[results.calls...] {
                    for outcome in commit.outcomes { results.byTicket[outcome.ticket] = outcome }
                }
                results.calls = commits.count
                return tickets.allSatisfy { results.byTicket[$0] != nil }
            }
        }
        return results.withLock { results in tickets.compactMap { results.byTicket[$0] } }
    }

    /// Waits for the replies to these queries. By then the calls are in ``rounds``.
    func waitForReplies(to queries: [Query]) throws {
        try rounds.wait { rounds in
            replies.withLock { replies in
                for round in rounds[replies.calls...] { replies.reported.formUnion(round.map { ObjectIdentifier($0) }) }
                replies.calls = rounds.count
                return queries.allSatisfy { replies.reported.contains(ObjectIdentifier($0.reply)) }
            }
        }
    }
}
