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
    /// What it has said of queries, call by call.
    let rounds = Recorder<[Answer]>()
    /// Called on the log's thread before a commit is recorded.
    let onCommitted = Mutex<(@Sendable () -> Void)?>(nil)
    /// Called on the log's thread before answers are recorded.
    let onFetched = Mutex<(@Sendable () -> Void)?>(nil)

    private let results = Mutex<[Ticket: Outcome]>([:])
    private let answers = Mutex<[Ticket: Answer]>([:])

    func committed(_ outcomes: [Outcome], _ batches: [Batch]) {
        onCommitted.withLock { $0 }?()
        results.withLock { results in for outcome in outcomes { results[outcome.ticket] = outcome } }
        commits.record(Commit(outcomes: outcomes, batches: batches))
    }

    func fetched(_ answers: [Answer]) {
        onFetched.withLock { $0 }?()
        self.answers.withLock { all in for answer in answers { all[answer.ticket] = answer } }
        rounds.record(answers)
    }

    /// Waits for the outcomes of these questions.
    func outcomes(_ tickets: [Ticket]) throws -> [Outcome] {
        try commits.wait { _ in results.withLock { results in tickets.allSatisfy { results[$0] != nil } } }
        return results.withLock { results in tickets.compactMap { results[$0] } }
    }

    /// Waits for the answers to these questions.
    func answers(_ tickets: [Ticket]) throws -> [Answer] {
        try rounds.wait { _ in answers.withLock { answers in tickets.allSatisfy { answers[$0] != nil } } }
        return answers.withLock { answers in tickets.compactMap { answers[$0] } }
    }
}
