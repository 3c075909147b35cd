package import Chat
package import Wire

/// The steps by which a writer commits, holds or refuses the submissions that it has taken.
///
/// First come the sends that one statement can store, then the read marks that one can move, then everything else in ordinary
/// transactions. Each room's submissions are committed in order, see ``SendBatch``. Other transactions may be in the way,
/// decisions may turn out to be outdated, and the connection may be lost, also in a commit.
///
/// A plain value. It returns one step at a time, and needs its result, or ``failed(_:at:)``, before the next.
package struct WriterTurns {
    /// Number of times that a commit is tried while other transactions are in its way, and a batch while its decisions are
    /// outdated.
    private static let attempts = 8
    /// Number of times that a commit waits for the lock of a row that is not a room's.
    private static let lockedAttempts = 4
    /// Time for which the submissions of a commit wait for a lost connection to come back: 2 seconds.
    package static let patience = Duration.seconds(2)

    /// A step to take.
    package enum Step {
        /// Refuse those that are no longer awaited; ``judged(_:at:)``.
        case judge(ArraySlice<Submission>)
        /// Connect, unless there is a connection; ``connected()``.
        case connect
        /// Look up rooms and senders; ``lookedUp(_:)``.
        case lookUp([KnownRooms.Question])
        /// Store sends; ``stored(_:)``.
        case store(SendBatch, revocations: Int64)
        /// Find those client message ids that were used before; ``found(repeated:)``.
        case findRepeated([SendBatch.Key])
        /// Move read marks, and mark their users as engaged; ``moved(_:)``.
        case move(MarkBatch, engaging: [KnownRooms.Person], revocations: Int64)
        /// Read the new events of access; ``caughtUp()``, also after an error if it is optional.
        case catchUp(isOptional: Bool)
        /// Commit the first of these in one transaction; ``transacted(_:)``.
        case transact(ArraySlice<Submission>)
        /// Report what a statement has stored; ``reported()``.
        case report([Outcome], [Batch])
        /// Nothing is left.
        case end
    }

    /// The reason why a step has failed. Except after a lost commit, nothing was stored.
    package enum Failure {
        /// It waited too long for a lock. These rooms are locked.
        case locked(Set<RoomID>)
        /// Another transaction was in the way.
        case conflict
        /// The connection was lost, or could not be made.
        case connection
        /// The connection was lost in the commit. These submissions may be stored; `nil` for all.
        case unknown(Set<Ticket>?)
        /// The process may have been stopped meanwhile.
        case abandoned
        /// The database cannot store a value.
        case value
        /// Another error.
        case other
    }

    /// The reaction to a failure, before the next step.
    package enum Reaction {
        /// Nothing.
        case none
        /// A pause.
        case wait
        /// Hold the submissions of these rooms; ``hold(_:in:at:)``.
        case hold(Set<RoomID>)
        /// Refuse this submission.
        case refuse(Submission)
        /// Refuse these sends, which may be stored. Then a pause.
        case refuseUnconfirmed([Submission])
        /// Refuse the sends in the first array, which may be stored, and the other submissions, because the database fails.
        case giveUp([Submission], ArraySlice<Submission>)
    }

    /// The parts of a turn.
    private enum Stage {
        /// The sends that one statement can store. Those with these client message ids are left to the last stage.
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

        func isAfter(_ other: Stage) -> Bool { number > other.number }
    }

    /// The next step of a stage.
    private enum Phase {
        case judging, connecting, learning, storing
        case catchingUp(isOptional: Bool)
        case finding(SendBatch)
        case reporting([Outcome], [Batch])
    }

    private let access: AccessState
    private let policy: Facts.Policy
    private var known: KnownRooms

    /// The submissions that are left.
    package private(set) var rest: ArraySlice<Submission> = []
    private var stage = Stage.others
    private var phase = Phase.judging
    private var attempt = 1
    /// Maximum number of submissions of one ordinary commit.
    private var most = Int.max
    private var deadline = ContinuousClock.Instant.now
    /// The time when the submissions were judged.
    private var judgedAt = ContinuousClock.Instant.now
    /// The number of revocations for which the decisions hold.
    private var revocations: Int64 = 0
    private var sends: (batch: SendBatch, start: ContinuousClock.Instant)?
    private var marks: MarkBatch?
    /// The stage after the report.
    private var following = Stage.others

    /// Creates the turns of a writer that knows nothing.
    package init(_ access: AccessState, _ policy: Facts.Policy) {
        self.access = access
        self.policy = policy
        known = KnownRooms(policy)
    }

    /// Begins a turn.
    package mutating func begin(_ submissions: ArraySlice<Submission>, at now: ContinuousClock.Instant) {
        rest = submissions
        stage = .sends(repeated: [])
        phase = .judging
        attempt = 1
        most = .max
        deadline = now + Self.patience
    }

    /// Forgets what is known of rooms, because a new connection was made.
    package mutating func reconnected() {
        known = KnownRooms(policy)
    }

    // MARK: Steps

    /// Returns the next step.
    package mutating func next(at now: ContinuousClock.Instant) -> Step {
        while !rest.isEmpty {
            switch phase {
            case .judging: return .judge(rest)
            case .connecting:
                switch stage {
                case .sends:
                    if rest.contains(where: { if case .send = $0.change { true } else { false } }) { return .connect }
                    go(to: .marks)
                case .marks:
                    if rest.contains(where: { if case .read = $0.change { true } else { false } }) { return .connect }
                    go(to: .others)
                case .others: return .transact(rest.prefix(most))
                }
            case .learning:
                // Read before the bans, which are then at least as new.
                revocations = access.revocations
                known.begin(revocations: revocations)
                let questions = known.questions(for: rest)
                phase = .storing
                if !questions.isEmpty { return .lookUp(questions) }
            case .storing: if let step = store(at: now) { return step }
            case .catchingUp(let isOptional): return .catchUp(isOptional: isOptional)
            case .finding(let batch): return .findRepeated(batch.keys)
            case .reporting(let outcomes, let batches): return .report(outcomes, batches)
            }
        }
        return .end
    }

    /// Makes the batch of this stage. If it is empty, the next stage begins.
    private mutating func store(at now: ContinuousClock.Instant) -> Step? {
        switch stage {
        case .sends(let repeated):
            let batch = SendBatch(
                rest, knowing: known, repeated: repeated, bans: access.bans, erasing: access.erasing)
            if batch.sends.isEmpty {
                go(to: .marks)
            } else if isYoung(at: now) {
                sends = (batch, now)
                return .store(batch, revocations: revocations)
            }
        case .marks:
            let batch = MarkBatch(rest, knowing: known, bans: access.bans, erasing: access.erasing)
            if batch.marks.isEmpty {
                go(to: .others)
            } else if isYoung(at: now) {
                marks = batch
                return .move(batch, engaging: unengaged(batch), revocations: revocations)
            }
        case .others: go(to: .others)
        }
        return nil
    }

    private func unengaged(_ batch: MarkBatch) -> [KnownRooms.Person] {
        batch.marks.map(\.person).filter { !known.isEngaged($0) }
    }

    /// Returns true if the process was not stopped since its submissions were judged. Otherwise they are judged again.
    private mutating func isYoung(at now: ContinuousClock.Instant) -> Bool {
        if now - judgedAt < Submission.youth { return true }
        phase = .judging
        return false
    }

    /// Begins a stage. A batch that was outdated too often is committed one by one.
    private mutating func go(to next: Stage) {
        attempt = next.isAfter(stage) ? 1 : attempt + 1
        stage = attempt > Self.attempts ? .others : next
        phase = .judging
    }

    // MARK: Results

    /// Records the submissions that are still awaited.
    package mutating func judged(_ awaited: ArraySlice<Submission>, at now: ContinuousClock.Instant) {
        rest = awaited
        judgedAt = now
        phase = .connecting
    }

    /// Records that there is a connection.
    package mutating func connected() {
        phase = .learning
    }

    /// Records what was looked up.
    ///
    /// - Parameter found: The answers for rooms that exist, and the number of revocations for which they hold; `nil` if there
    ///   are none.
    package mutating func lookedUp(_ found: (answers: [KnownRooms.Answer], revocations: Int64)?) {
        guard let found else { return }
        guard found.revocations == revocations else {
            following = stage
            return phase = .catchingUp(isOptional: false)
        }
        known.add(found.answers)
    }

    /// Records the answer to a batch of sends.
    package mutating func stored(_ answer: SendAnswer) {
        guard let (batch, start) = sends.take(), case .sends(let repeated) = stage else { return }
        guard case .stored(let stored) = answer else { return phase = .finding(batch) }
        known.add(batch, stored)
        let (outcomes, batches) = batch.results(stored)
        phase = .reporting(outcomes, batches)
        following = .marks
        if stored.contains(where: { $0 == nil }) {
            following = .sends(repeated: repeated)
            report = (outcomes, batches)
            // After an error the next attempt finds again that something is not known.
            phase = .catchingUp(isOptional: true)
        } else {
            // The statement has found no newer revocation.
            access.isCurrent(at: start, knowing: revocations)
        }
    }

    /// The outcomes and batches to report after the events of access are read; `nil` for none.
    private var report: ([Outcome], [Batch])?

    /// Records the client message ids that were used before.
    package mutating func found(repeated keys: [SendBatch.Key]) {
        guard case .sends(let repeated) = stage else { return }
        go(to: keys.isEmpty ? .marks : .sends(repeated: repeated.union(keys)))
    }

    /// Records the answer to a batch of read marks.
    package mutating func moved(_ moved: [MarkBatch.Moved?]) {
        guard let batch = marks.take() else { return }
        known.add(engaged: unengaged(batch))
        let outcomes = batch.outcomes(moved)
        phase = .reporting(outcomes, [])
        following = .others
        if moved.contains(where: { $0 == nil }) {
            known.forget(zip(batch.marks, moved).filter { $0.1 == nil }.map(\.0.id))
            following = .marks
            report = (outcomes, [])
            phase = .catchingUp(isOptional: true)
        }
    }

    /// Records that the events of access were read.
    package mutating func caughtUp() {
        if let (outcomes, batches) = report.take() {
            phase = .reporting(outcomes, batches)
        } else {
            go(to: following)
        }
    }

    /// Records that a batch was reported.
    package mutating func reported() {
        guard case .reporting(let outcomes, _) = phase else { return }
        if outcomes.count == rest.count {
            rest = []
        } else if !outcomes.isEmpty {
            let done = Set(outcomes.map(\.ticket))
            rest = rest.filter { !done.contains($0.ticket) }[...]
        }
        go(to: following)
    }

    /// Records that the first submissions were committed and reported.
    package mutating func transacted(_ count: Int) {
        rest = rest.dropFirst(count)
        attempt = 0
        go(to: .others)
    }

    // MARK: Failures

    /// Records that a step has failed.
    package mutating func failed(_ failure: Failure, at now: ContinuousClock.Instant) -> Reaction {
        phase = .judging
        switch failure {
        case .locked(let rooms):
            if !rooms.isEmpty { return .hold(rooms) }
            if most > 1 {
                // Another row is locked, such as a member's. Each submission is then committed alone.
                (stage, most) = (.others, 1)
            } else if attempt < Self.lockedAttempts {
                attempt += 1
            } else if let first = rest.popFirst() {
                attempt = 1
                return .refuse(first)
            }
        case .conflict:
            guard attempt < Self.attempts else { return giveUp() }
            attempt += 1
        case .connection: return now < deadline ? .wait : giveUp()
        case .abandoned: break  // Those that are still awaited are tried again.
        case .unknown(let tickets):
            let refused = rest.filter { !Self.isRepeatable($0, tickets) }
            rest = rest.filter { Self.isRepeatable($0, tickets) }[...]
            // The connection may be lost in each attempt.
            guard now < deadline else { return giveUp(refused) }
            stage = .sends(repeated: [])
            return .refuseUnconfirmed(refused)
        case .value:
            // Each submission is then committed alone, so that only the faulty one fails.
            stage = .others
            if most == 1, let first = rest.popFirst() { return .refuse(first) }
            most = 1
        case .other: return giveUp()
        }
        return .none
    }

    /// Moves the submissions of locked rooms to those that are held.
    package mutating func hold(_ rooms: Set<RoomID>, in held: inout HeldRooms, at now: ContinuousClock.Instant) {
        rest = held.hold(rooms, of: rest, at: now)
    }

    private mutating func giveUp(_ unconfirmed: [Submission] = []) -> Reaction {
        defer { rest = [] }
        return .giveUp(unconfirmed, rest)
    }

    /// Returns false for a send without a client message id after a commit whose outcome is unknown. If it was stored, a
    /// second attempt would store it again. All other submissions can be tried again: they change nothing the second time.
    private static func isRepeatable(_ submission: Submission, _ tickets: Set<Ticket>?) -> Bool {
        guard !submission.isTrial, case .send(let draft) = submission.change,
            tickets?.contains(submission.ticket) != false
        else { return true }
        return draft.clientMessageID != nil
    }
}
