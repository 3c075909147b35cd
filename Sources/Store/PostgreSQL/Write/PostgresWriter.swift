import Chat
import Nodes
import Synchronization
import Wire

/// One writing thread of a node: it takes the queued submissions, commits them on its own connection, and tells the
/// observer.
///
/// All submissions of a room go to the same writer, so that a node does not wait for its own locks. While a batch is
/// committed, the next submissions gather in the queue. So the busier a room is, the more messages share a commit. With
/// few senders, the writer waits a moment for them, see ``GroupCommit``.
final class PostgresWriter: Sendable {
    private let queue: WorkQueue<Submission>
    private let connector: PostgresConnector
    private let access: AccessState
    private let configuration: StoreConfiguration
    private let reports: WriterReports
    private let conflicted = Atomic(0)

    /// Number of times that a commit is tried while other transactions are in its way, and a batch while its decisions are
    /// outdated.
    private static let attempts = 8
    /// Number of times that a commit waits for the lock of a row that is not a room's.
    private static let lockedAttempts = 4
    /// Time for which the submissions of a commit wait for a lost connection to come back: 2 seconds.
    static let patience = Duration.seconds(2)

    init(
        connector: PostgresConnector, access: AccessState, configuration: StoreConfiguration, reports: WriterReports
    ) {
        self.connector = connector
        self.access = access
        self.configuration = configuration
        self.reports = reports
        queue = WorkQueue(limit: configuration.submissionQueue)
    }

    /// The number of waiting submissions.
    var queued: Int { queue.count }

    /// The number of commits that were tried again because of other transactions.
    var conflicts: Int { conflicted.load(ordering: .relaxed) }

    /// The reason why the last commit failed; `nil` if it succeeded.
    var failure: String? { reports.failure }

    /// Reports a failure that is known before the first commit.
    func begin(failing failure: PostgresError) {
        reports.note(failure: "\(failure)")
    }

    func submit(_ submissions: [Submission]) {
        let admission = queue.append(submissions)
        if let refusal = admission.refusal { reports.refuse(submissions[admission.count...], refusal) }
    }

    /// Closes the queue. The thread commits the rest and ends.
    func close() {
        queue.close()
    }

    // MARK: The thread

    /// Runs the thread until the queue is closed and empty.
    func run() {
        var session = Session(connector: connector.use(), access: access, configuration: configuration)
        var group = GroupCommit()
        var held = HeldRooms()
        var nextProbe = ContinuousClock.now + .milliseconds(configuration.idleProbeInterval)
        while let submissions = queue.takeCommit(
            configuration.commit, within: wait(for: held), waitingFor: group.expected)
        {
            let others = held.take(submissions[...])
            if !others.isEmpty {
                let start = ContinuousClock.now
                commit(others, &session, &held)
                group.note(
                    committed: failure == nil ? others.count : 0, waiting: queue.count, from: start, to: .now)
            }
            // Also while commits succeed, because `fsync` can be turned off, and while changes come that store nothing.
            if nextProbe <= .now || (others.isEmpty && held.nextLook == nil) {
                probe(&session)
                nextProbe = .now + .milliseconds(configuration.idleProbeInterval)
            }
            refuseBeyondLimit(&held)
            look(&held, &session)
        }
        while !held.rooms.isEmpty {
            PostgresConnector.wait()
            look(&held, &session)
        }
    }

    /// Returns the time in milliseconds to wait for submissions.
    private func wait(for held: HeldRooms) -> Int {
        let wait = failure == nil ? configuration.idleProbeInterval : configuration.probeInterval
        guard let look = held.nextLook else { return wait }
        return min(wait, max(0, ContinuousClock.now.duration(to: look).milliseconds))
    }

    /// Commits the changes of rooms that are free again, and refuses those whose clients no longer wait.
    private func look(_ held: inout HeldRooms, _ session: inout Session) {
        guard let due = held.nextLook, due <= .now else { return }
        held.filter { reports.awaited($0) }
        // If the database cannot be asked, a commit reports that.
        let locked = (try? session.lockedRooms(among: held.rooms)) ?? []
        let free = held.release(except: locked, at: .now)
        if !free.isEmpty { commit(free[...], &session, &held) }
    }

    /// Refuses held submissions if they are more than may wait in the queue.
    private func refuseBeyondLimit(_ held: inout HeldRooms) {
        guard held.count > configuration.submissionQueue else { return }
        var left = configuration.submissionQueue
        held.filter { submissions in
            let kept = submissions.prefix(left)
            left -= kept.count
            reports.refuse(submissions.dropFirst(kept.count), .overloaded)
            return kept
        }
    }

    /// Checks that the database takes changes, and keeps them. It may have become read-only while nobody sent anything.
    private func probe(_ session: inout Session) {
        do {
            try session.checkTakesChanges()
            reports.note(failure: nil)
        } catch let error as PostgresError where error.kind == .connection && !error.isReadOnly && failure == nil {
            // No commit has failed yet. The next probe connects again, and the listener reports a database that stays
            // unreachable.
        } catch {
            reports.note(failure: "\(error)")
        }
    }

    /// Commits all submissions: first the sends that one statement can store, then the others. Each room's submissions
    /// are committed in order, see ``SendBatch``.
    ///
    /// - Parameter held: Takes those of rooms that another transaction has locked.
    private func commit(
        _ submissions: ArraySlice<Submission>, _ session: inout Session, _ held: inout HeldRooms
    ) {
        var rest = submissions
        var step = Step.sends(repeated: [])
        var attempt = 1
        // Maximum number of submissions of one ordinary commit.
        var most = Int.max
        let deadline = ContinuousClock.now + Self.patience
        while true {
            rest = reports.awaited(rest)
            if rest.isEmpty { return }
            let judged = ContinuousClock.now
            do {
                let next: Step
                switch step {
                case .sends(let repeated): (rest, next) = try commitSends(rest, repeated, &session, judged)
                case .marks: (rest, next) = try commitMarks(rest, &session, judged)
                case .others:
                    rest = rest.dropFirst(try commitSome(rest.prefix(most), &session))
                    // The transaction may have stored nothing, which a read-only database permits.
                    if failure != nil { probe(&session) }
                    (next, attempt) = (.others, 0)
                }
                // A batch that was outdated too often is committed one by one.
                attempt = next.isAfter(step) ? 1 : attempt + 1
                step = attempt > Self.attempts ? .others : next
            } catch let error as PostgresError where error.isLockTimeout {
                conflicted.add(1, ordering: .relaxed)
                let locked = (try? session.lockedRooms(among: Array(Set(rest.compactMap(\.room))))) ?? []
                if !locked.isEmpty {
                    rest = held.hold(locked, of: rest, at: .now)
                } else if most > 1 {
                    // Another row is locked, such as a member's. Each submission is then committed alone.
                    step = .others
                    most = 1
                } else if attempt < Self.lockedAttempts {
                    attempt += 1
                } else if let first = rest.popFirst() {
                    attempt = 1
                    reports.refuse([first], .databaseUnavailable)
                }
            } catch let error as PostgresError where error.kind == .conflict && attempt < Self.attempts {
                attempt += 1
                conflicted.add(1, ordering: .relaxed)
            } catch let error as PostgresError where error.kind == .connection && ContinuousClock.now < deadline {
                session.wait()
            } catch is AbandonedCommit {
                // Nothing was stored. The submissions that are still awaited are tried again.
            } catch let error as UnknownCommit {
                rest = refuseUnrepeatable(rest, error)
                // The connection may be lost in each attempt.
                guard ContinuousClock.now < deadline else {
                    reports.note(failure: "\(error.cause)")
                    return reports.refuse(rest, .databaseUnavailable)
                }
                step = .sends(repeated: [])
                session.wait()
            } catch let error as PostgresError where error.isOfValue {
                // Each submission is then committed alone, so that only the faulty one fails.
                step = .others
                if most == 1, let first = rest.popFirst() {
                    reports.refuse(
                        [first],
                        error.isRoomLimit
                            ? configuration.refuseRoom()
                            : .unavailable("The database cannot store a value of this change."))
                }
                most = 1
            } catch {
                reports.note(failure: "\(error)")
                return reports.refuse(rest, .databaseUnavailable)
            }
        }
    }

    /// Commits the first submissions in one transaction.
    ///
    /// - Returns: Their number, at least 1.
    private func commitSome(_ submissions: ArraySlice<Submission>, _ session: inout Session) throws -> Int {
        let start = ContinuousClock.now
        let limit = configuration.commit.bytes
        let done = try session.transact(submissions) { commit in
            try commit.apply(submissions, changing: limit)
            // The node may have been stopped in the transaction.
            guard ContinuousClock.now - start < WriterReports.youth || reports.awaits(submissions) else {
                throw AbandonedCommit()
            }
        }
        configuration.onCommit?(ContinuousClock.now - start, done.outcomes.count)
        reports.tell(done)
        return done.outcomes.count
    }

    /// The steps of a commit.
    private enum Step {
        /// The sends that one statement can store. Those with these client message ids are left to the last step.
        case sends(repeated: Set<SendBatch.Key>)
        /// The read marks that one statement can move.
        case marks
        /// Everything else.
        case others

        private var number: Int {
            switch self {
            case .sends: 0
            case .marks: 1
            case .others: 2
            }
        }

        func isAfter(_ other: Step) -> Bool { number > other.number }
    }

    /// Commits the sends that one statement can store.
    ///
    /// - Returns: The submissions that are left, and the next step; the same one if some decisions were outdated.
    private func commitSends(
        _ submissions: ArraySlice<Submission>, _ repeated: Set<SendBatch.Key>, _ session: inout Session,
        _ judged: ContinuousClock.Instant
    ) throws -> (ArraySlice<Submission>, Step) {
        let start = ContinuousClock.now
        switch try session.store(submissions, repeated: repeated, judged) {
        case .none: return (submissions, .marks)
        case .outdated: return (submissions, .sends(repeated: repeated))
        case .repeated(let found):
            return (submissions, found.isEmpty ? .marks : .sends(repeated: repeated.union(found)))
        case .stored(let batch, let stored):
            reports.note(failure: nil)
            let (outcomes, batches) = batch.results(stored)
            let rest = report(outcomes, batches, of: submissions, since: start)
            return (rest, stored.contains { $0 == nil } ? .sends(repeated: repeated) : .marks)
        }
    }

    /// Moves the read marks that one statement can move.
    ///
    /// - Returns: The submissions that are left, and the next step; the same one if some decisions were outdated.
    private func commitMarks(
        _ submissions: ArraySlice<Submission>, _ session: inout Session, _ judged: ContinuousClock.Instant
    ) throws -> (ArraySlice<Submission>, Step) {
        let start = ContinuousClock.now
        switch try session.storeMarks(submissions, judged) {
        case .none: return (submissions, .others)
        case .outdated: return (submissions, .marks)
        case .stored(let batch, let moved):
            reports.note(failure: nil)
            let rest = report(batch.outcomes(moved), [], of: submissions, since: start)
            return (rest, moved.contains { $0 == nil } ? .marks : .others)
        }
    }

    /// Reports what a batch has stored.
    ///
    /// - Returns: The submissions that are left, in order.
    private func report(
        _ outcomes: [Outcome], _ batches: [Batch], of submissions: ArraySlice<Submission>,
        since start: ContinuousClock.Instant
    ) -> ArraySlice<Submission> {
        if outcomes.isEmpty { return submissions }
        configuration.onCommit?(ContinuousClock.now - start, outcomes.count)
        reports.tellSends(outcomes, batches)
        if outcomes.count == submissions.count { return [] }
        let done = Set(outcomes.map(\.ticket))
        return submissions.filter { !done.contains($0.ticket) }[...]
    }

    /// Refuses the sends without a client message id, after a commit whose outcome is unknown. If such a send was
    /// stored, a second attempt would store it again. All other submissions can be tried again: they change nothing the
    /// second time.
    ///
    /// - Returns: The others.
    private func refuseUnrepeatable(
        _ submissions: ArraySlice<Submission>, _ error: UnknownCommit
    ) -> ArraySlice<Submission> {
        func isRepeatable(_ submission: Submission) -> Bool {
            guard case .send(let draft) = submission.change, error.tickets?.contains(submission.ticket) != false else {
                return true
            }
            return draft.clientMessageID != nil
        }
        reports.refuse(
            submissions.filter { !isRepeatable($0) },
            .unavailable("The database did not confirm the message, which may be stored."))
        return submissions.filter(isRepeatable)[...]
    }
}

extension StoreConfiguration {
    /// The configuration for a database that other nodes change too: no rooms are kept from one commit to the next.
    var ofNode: StoreConfiguration {
        var copy = self
        copy.cachedRooms = 0
        copy.commit.expiredMessages = commit.sharedExpiredMessages
        copy.expiryRooms = sharedExpiryRooms
        copy.expiryPause = sharedExpiryPause
        return copy
    }
}
