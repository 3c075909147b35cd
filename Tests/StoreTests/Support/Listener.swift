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
    /// The answers, call by call.
    let rounds = Recorder<[Answer]>()
    /// Called on the log's thread before a commit is recorded.
    let onCommitted = Mutex<(@Sendable () -> Void)?>(nil)
    /// Called on the log's thread before answers are recorded.
    let onFetched = Mutex<(@Sendable () -> Void)?>(nil)

    private let results = Mutex(Results<Outcome>())
    private let answers = Mutex(Results<Answer>())

    /// The results under each ticket, and the number of calls.
    private struct Results<Result> {
        var byTicket: [Ticket: Result] = [:]
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

    func fetched(_ answers: [Answer]) {
        onFetched.withLock { $0 }?()
        rounds.record(answers)
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

    /// Waits for the answers to these queries. By then the calls are in ``rounds``.
    func answers(_ tickets: [Ticket]) throws -> [Answer] {
        try rounds.wait { rounds in
            answers.withLock { answers in
                for round in rounds[answers.calls...] {
                    for answer in round { answers.byTicket[answer.ticket] = answer }
                }
                answers.calls = rounds.count
                return tickets.allSatisfy { answers.byTicket[$0] != nil }
            }
        }
        return answers.withLock { answers in tickets.compactMap { answers.byTicket[$0] } }
    }
}
