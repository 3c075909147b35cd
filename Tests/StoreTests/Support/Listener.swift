import Chat
import Synchronization
import TestSupport

/// Hears what a log says, and lets a test wait for it.
final class Listener: LogObserver {
    /// One call of the log.
    struct Commit: Sendable {
        var outcomes: [Outcome]
        var batches: [Batch]
    }

    /// What the log has said of submissions, call by call.
    let commits = Recorder<Commit>()
    /// What it has said of memberships, call by call.
    let memberships = Recorder<[MembershipChange]>()
    /// What it has said of access that has ended, call by call.
    let ends = Recorder<[AccessEnd]>()
    /// What it has said of queries, call by call.
    let rounds = Recorder<[Answer]>()
    /// Called on the log's thread before a commit is recorded.
    let onCommitted = Mutex<(@Sendable () -> Void)?>(nil)
    /// Called on the log's thread before answers are recorded.
    let onFetched = Mutex<(@Sendable () -> Void)?>(nil)

    private let results = Mutex(Results<Outcome>())
    private let answers = Mutex(Results<Answer>())

    /// What has been recorded under each ticket, and of how many calls.
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

    /// Waits for the outcomes of these questions. The calls that brought them are among ``commits`` then.
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

    /// Waits for the answers to these questions. The calls that brought them are among ``rounds`` then.
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
