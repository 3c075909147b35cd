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
    func tell(_ done: borrowing Commit<some CommitStore>) {
        onCommitted?(
            done.batches,
            !done.memberships.isEmpty || !done.ends.isEmpty || !done.restricted.isEmpty || !done.bans.changes.isEmpty)
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
        if submissions.isEmpty { return }
        tell(submissions.map { Outcome(ticket: $0.ticket, result: .failure(problem)) })
    }

    /// Refuses the submissions that must not be committed any more: those that are older than
    /// ``StoreConfiguration/changeAge``, and those that are no longer young and whose clients have closed the connection.
    ///
    /// This process may have been stopped since they arrived. Their clients may have repeated them at another node, and
    /// have changed the same things again.
    ///
    /// - Returns: The others.
    func awaited(_ submissions: ArraySlice<Submission>) -> ArraySlice<Submission> {
        let now = ContinuousClock.now
        let (young, acceptable) = (now - Submission.youth, now - configuration.changeAge)
        guard submissions.contains(where: { $0.arrival < young }) else { return submissions }
        let asked = submissions.filter { $0.arrival < young && $0.arrival >= acceptable }.map(\.ticket)
        let abandoned = asked.isEmpty ? [] : observer.abandoned(asked)
        func isAwaited(_ submission: Submission) -> Bool {
            submission.arrival >= acceptable && !abandoned.contains(submission.ticket)
        }
        refuse(submissions.filter { !isAwaited($0) }, .tooLate)
        return submissions.filter(isAwaited)[...]
    }

    /// Returns true unless some of the submissions must not be committed any more, see ``awaited(_:)``.
    func awaits(_ submissions: ArraySlice<Submission>) -> Bool {
        let acceptable = ContinuousClock.now - configuration.changeAge
        guard submissions.allSatisfy({ $0.arrival >= acceptable }) else { return false }
        return observer.abandoned(submissions.map(\.ticket)).isEmpty
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

extension Problem {
    /// 503: the request has waited for so long that its client may have given up.
    static let tooLate = Problem.unavailable("The request waited too long. Try again.")
}
