import Chat
import Synchronization
import Wire

/// A writer's reports: outcomes and commits to the observer, and its health.
final class WriterReports: Sendable {
    private let observer: any LogObserver
    private let configuration: StoreConfiguration
    private let failureText = Mutex<String?>(nil)
    private let onCommitted: (@Sendable (_ batches: [Batch], _ changesAccess: Bool) -> Void)?

    /// Creates reports to an observer.
    ///
    /// - Parameter onCommitted: Called before the observer learns of a commit, with what other nodes must learn.
    init(
        _ observer: any LogObserver, _ configuration: StoreConfiguration,
        onCommitted: (@Sendable (_ batches: [Batch], _ changesAccess: Bool) -> Void)? = nil
    ) {
        self.observer = observer
        self.configuration = configuration
        self.onCommitted = onCommitted
    }

    /// The reason why the last commit failed; `nil` if it succeeded.
    var failure: String? { failureText.withLock { $0 } }

    /// Tells the observer of a durable commit.
    func tell(_ done: borrowing Commit) {
        onCommitted?(
            done.batches, !done.memberships.isEmpty || !done.ends.isEmpty || !done.bans.changes.isEmpty)
        if !done.memberships.isEmpty { observer.membershipsChanged(done.memberships) }
        if !done.ends.isEmpty { observer.accessEnded(done.ends) }
        tell(done.outcomes, done.batches)
    }

    /// Tells the observer of a durable commit of sends.
    func tellSends(_ outcomes: [Outcome], _ batches: [Batch]) {
        onCommitted?(batches, false)
        tell(outcomes, batches)
    }

    private func tell(_ outcomes: [Outcome], _ batches: [Batch] = []) {
        if !outcomes.isEmpty || !batches.isEmpty { observer.committed(outcomes, batches) }
    }

    /// Tells the observer that submissions were refused.
    func refuse(_ submissions: some Collection<Submission>, _ problem: Problem) {
        tell(submissions.map { Outcome(ticket: $0.ticket, result: .failure(problem)) })
    }

    /// Records the result of the last attempt to write, and reports a change.
    func note(failure: String?) {
        let before = failureText.withLock { text in
            defer { text = failure }
            return text
        }
        if before != failure { configuration.onHealthChange?(failure) }
    }
}

extension WorkQueue<Submission> {
    /// Waits for the submissions of the next commit, see ``take(_:within:waitingFor:fitting:)``.
    ///
    /// - Returns: None once the time is up; `nil` once the queue is closed and empty.
    func takeCommit(
        _ limits: CommitLimits, within milliseconds: Int?, waitingFor group: ExpectedGroup? = nil
    ) -> [Submission]? {
        take(limits.submissions, within: milliseconds, waitingFor: group) { waiting in
            var bytes = 0
            for index in waiting.indices {
                bytes += waiting[index].byteCount
                if bytes > limits.bytes { return index }
            }
            return waiting.count
        }
    }
}
