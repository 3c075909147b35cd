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
            let others = held.holdBack(submissions[...])
            if !others.isEmpty {
                let start = ContinuousClock.now
                commit(others, &session, &held)
                group.note(
                    committed: failure == nil ? others.count : 0, waiting: queue.count, from: start, to: .now)
            }
            // Also while commits succeed, because `fsync` can be turned off, and while changes come that store nothing.
            if nextProbe <= .now || (others.isEmpty && held.nextCheck == nil) {
                probe(&session)
                nextProbe = .now + .milliseconds(configuration.idleProbeInterval)
            }
            refuseBeyondLimit(&held)
            commitReleased(&held, &session)
        }
        while !held.rooms.isEmpty {
            PostgresConnector.wait()
            commitReleased(&held, &session)
        }
    }

    /// Returns the time in milliseconds to wait for submissions.
    private func wait(for held: HeldRooms) -> Int {
        let wait = failure == nil ? configuration.idleProbeInterval : configuration.probeInterval
        guard let check = held.nextCheck else { return wait }
        return min(wait, max(0, ContinuousClock.now.duration(to: check).milliseconds))
    }

    /// Commits the changes of rooms that are free again, and refuses those whose clients no longer wait.
    private func commitReleased(_ held: inout HeldRooms, _ session: inout Session) {
        guard let due = held.nextCheck, due <= .now else { return }
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

    /// Commits all submissions, see ``WriterTurns``.
    ///
    /// - Parameter held: Takes those of rooms that another transaction has locked.
    private func commit(
        _ submissions: ArraySlice<Submission>, _ session: inout Session, _ held: inout HeldRooms
    ) {
        session.turns.begin(submissions, at: .now)
        var start = ContinuousClock.now
        while true {
            do {
                switch session.turns.next(at: .now) {
                case .end: return
                case .judge(let submissions): session.turns.judged(reports.awaited(submissions), at: .now)
                case .connect:
                    start = .now
                    _ = try session.commits()
                    session.turns.connected()
                case .report(let outcomes, let batches):
                    reports.note(failure: nil)
                    if !outcomes.isEmpty {
                        configuration.onCommit?(ContinuousClock.now - start, outcomes.count)
                        reports.tellSends(outcomes, batches)
                    }
                    session.turns.reported()
                case .transact(let submissions):
                    session.turns.transacted(try commitSome(submissions, &session))
                    // The transaction may have stored nothing, which a read-only database permits.
                    if failure != nil { probe(&session) }
                case let statement: try session.run(statement)
                }
            } catch {
                react(to: error, &session, &held)
            }
        }
    }

    /// Decides what follows from an error.
    private func react(to error: any Error, _ session: inout Session, _ held: inout HeldRooms) {
        let failure = WriterTurns.Failure(error) {
            (try? session.lockedRooms(among: Array(Set(session.turns.rest.compactMap(\.room))))) ?? []
        }
        switch failure {
        case .locked, .conflict: conflicted.add(1, ordering: .relaxed)
        default: break
        }
        switch session.turns.failed(failure, at: .now) {
        case .none: break
        case .wait: session.wait()
        case .hold(let rooms): session.turns.hold(rooms, in: &held, at: .now)
        case .refuse(let submission):
            let problem: Problem =
                switch error as? PostgresError {
                case let error? where error.isLockTimeout: .databaseUnavailable
                case let error? where error.isRoomLimit: configuration.refuseRoom()
                default: .unavailable("The database cannot store a value of this change.")
                }
            reports.refuse([submission], problem)
        case .refuseUnconfirmed(let submissions):
            reports.refuse(submissions, .unconfirmed)
            session.wait()
        case .giveUp(let unconfirmed, let others):
            reports.refuse(unconfirmed, .unconfirmed)
            reports.note(failure: "\((error as? UnknownCommit)?.cause ?? error)")
            reports.refuse(others, .databaseUnavailable)
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
            guard ContinuousClock.now - start < Submission.youth || reports.awaits(submissions) else {
                throw AbandonedCommit()
            }
        }
        configuration.onCommit?(ContinuousClock.now - start, done.outcomes.count)
        reports.tell(done)
        return done.outcomes.count
    }
}

extension WriterTurns.Failure {
    /// Classifies an error.
    ///
    /// - Parameter locked: Returns the locked rooms. Called after a wait for a lock.
    fileprivate init(_ error: any Error, locked: () -> Set<RoomID>) {
        switch error {
        case is PostgresWriter.AbandonedCommit: self = .abandoned
        case let error as UnknownCommit: self = .unknown(error.tickets)
        case let error as PostgresError where error.isLockTimeout: self = .locked(locked())
        case let error as PostgresError where error.kind == .conflict: self = .conflict
        case let error as PostgresError where error.kind == .connection: self = .connection
        case let error as PostgresError where error.isOfValue: self = .value
        default: self = .other
        }
    }
}

extension Problem {
    /// 503: the connection was lost in the commit of a send without a client message id.
    fileprivate static let unconfirmed = Problem.unavailable(
        "The database did not confirm the message, which may be stored.")
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
