import Chat
import Nodes
import Wire

/// A writing thread, as `PostgresWriter` is: the steps are those of `WriterTurns`.
final class Writer {
    private unowned let node: Node
    private(set) var connection: Connection?
    private var turns: WriterTurns
    private var held = HeldRooms()
    private var queue: [Submission] = []
    private var isBusy = false
    private var isCheckDue = false

    /// Age at which a submission is refused.
    private static let age = Duration.seconds(10)

    init(_ node: Node) {
        self.node = node
        turns = WriterTurns(node.access, Facts.Policy())
    }

    private var now: ContinuousClock.Instant { node.scheduler.instant }

    func submit(_ submission: Submission) {
        queue.append(submission)
        wake()
    }

    private func wake() {
        guard !isBusy else { return }
        isBusy = true
        node.process.after(node.process.pause) { [self] in take() }
    }

    private func take() {
        if let check = held.nextCheck, check <= now { return commitReleased() }
        let submissions = held.holdBack(queue[...])
        queue = []
        guard !submissions.isEmpty else {
            isBusy = false
            return waitForHeld()
        }
        turns.begin(submissions, at: now)
        step()
    }

    private func waitForHeld() {
        guard held.nextCheck != nil, !isCheckDue else { return }
        isCheckDue = true
        node.process.after(.milliseconds(50)) { [self] in
            isCheckDue = false
            wake()
        }
    }

    /// Commits the changes of rooms that are free again.
    private func commitReleased() {
        held.filter { awaited($0) }
        connect { [self] isConnected in
            guard isConnected else { return release([]) }
            connection!.call { [self] (reply: (Result<Set<RoomID>, DatabaseError>) -> Void) in
                reply(.success(node.database.locked(among: held.rooms)))
            } then: { [self] result in
                release((try? result.get()) ?? [])
            }
        }
    }

    private func release(_ locked: Set<RoomID>) {
        turns.begin(held.release(except: locked, at: now)[...], at: now)
        step()
    }

    private func connect(_ then: @escaping (Bool) -> Void) {
        if connection?.isOpen == true { return then(true) }
        node.process.after(node.scheduler.random.within(500...5000)) { [self] in
            guard !node.database.isDown else { return then(false) }
            connection = Connection(node.database, node.process)
            turns.reconnected()
            then(true)
        }
    }

    /// Refuses the submissions that must not be committed any more, as `WriterReports.awaited` does.
    private func awaited(_ submissions: ArraySlice<Submission>) -> ArraySlice<Submission> {
        submissions.filter { submission in
            let age = now - submission.arrival
            if age < Submission.youth { return true }
            if age < Self.age, node.loops[submission.ticket.loop].isAwaited(submission.ticket) { return true }
            refuse([submission], "too late")
            return false
        }[...]
    }

    private func refuse(_ submissions: some Sequence<Submission>, _ why: String) {
        let outcomes = submissions.map { Outcome(ticket: $0.ticket, result: .failure(.unavailable(why))) }
        if !outcomes.isEmpty { node.feeds.committed(outcomes, []) }
    }

    // MARK: Steps

    private func soon() { node.process.after(node.process.pause) { [self] in step() } }

    private func step() {
        switch turns.next(at: now) {
        case .end: node.process.after(node.process.pause) { [self] in take() }
        case .judge(let submissions):
            turns.judged(awaited(submissions), at: now)
            soon()
        case .connect:
            connect { [self] isConnected in
                guard isConnected else { return fail(.connection) }
                turns.connected()
                soon()
            }
        case .lookUp(let questions):
            call {
                [self] (reply: (Result<(answers: [KnownRooms.Answer], revocations: Int64)?, DatabaseError>) -> Void) in
                reply(.success(node.database.tables.answers(to: questions)))
            } then: { [self] in
                turns.lookedUp($0)
            }
        case .catchUp(let isOptional):
            node.catchUp(connection!) { [self] isDone in
                guard isDone || isOptional else { return fail(.connection) }
                turns.caughtUp()
                soon()
            }
        case .store(let batch, let revocations): store(batch, revocations)
        case .findRepeated(let keys):
            call { [self] (reply: (Result<[SendBatch.Key], DatabaseError>) -> Void) in
                let tables = node.database.tables
                reply(
                    .success(
                        keys.filter { key in
                            tables.room(key.room)!.messages.contains {
                                $0.sender == key.sender && $0.clientMessageID == key.id
                            }
                        }))
            } then: { [self] in
                turns.found(repeated: $0)
            }
        case .move(let batch, _, let revocations):
            let connection = connection!
            call { [self] reply in
                node.database.move(batch, revocations, on: connection, reply)
            } then: { [self] in
                turns.moved($0)
            }
        case .transact(let submissions): transact(submissions)
        case .report(let outcomes, let batches):
            if !outcomes.isEmpty {
                node.hint(batches, changesAccess: false)
                node.feeds.committed(outcomes, batches)
            }
            turns.reported()
            soon()
        }
    }

    private func call<Value>(
        _ work: @escaping (@escaping (Result<Value, DatabaseError>) -> Void) -> Void, then: @escaping (Value) -> Void
    ) {
        connection!.call(work) { [self] result in
            switch result {
            case .success(let value):
                then(value)
                soon()
            case .failure(let error): fail(error == .locked ? .locked(lockedRooms) : .connection)
            }
        }
    }

    private func store(_ batch: SendBatch, _ revocations: Int64) {
        let connection = connection!
        connection.call { [self] reply in
            node.database.store(batch, revocations: revocations, on: connection, reply)
        } then: { [self] result in
            switch result {
            case .success(let answer):
                turns.stored(answer)
                soon()
            case .failure(.repeated):
                turns.stored(.repeated)
                soon()
            case .failure(.locked): fail(.locked(lockedRooms))
            case .failure(.connection): fail(.unknown(Set(batch.sends.map(\.submission.ticket))))
            }
        }
    }

    private var lockedRooms: Set<RoomID> { node.database.locked(among: turns.rest.compactMap(\.room)) }

    private func fail(_ failure: WriterTurns.Failure) {
        switch turns.failed(failure, at: now) {
        case .none: soon()
        case .wait: node.process.after(.milliseconds(50)) { [self] in step() }
        case .hold(let rooms):
            turns.hold(rooms, in: &held, at: now)
            soon()
        case .refuse(let submission):
            refuse([submission], "refused")
            soon()
        case .refuseUnconfirmed(let submissions):
            refuse(submissions, "unconfirmed")
            node.process.after(.milliseconds(50)) { [self] in step() }
        case .giveUp(let unconfirmed, let others):
            refuse(unconfirmed, "unconfirmed")
            refuse(others, "no database")
            soon()
        }
    }

    // MARK: Transactions

    /// Makes one ordinary transaction, as `PostgresCommits` does.
    private func transact(_ submissions: ArraySlice<Submission>) {
        let start = now
        connect { [self] isConnected in
            guard isConnected, let connection else { return fail(.connection) }
            connection.call { [self] (reply: (Result<(Int64, Timestamp), DatabaseError>) -> Void) in
                reply(.success((node.database.tables.event, node.database.time)))
            } then: { [self] result in
                guard case .success(let (event, time)) = result else { return fail(.connection) }
                if event == node.access.event {
                    node.access.isCurrent(at: start)
                    return begin(submissions, at: time, connection)
                }
                node.catchUp(connection) { [self] in
                    if $0 { begin(submissions, at: time, connection) } else { fail(.connection) }
                }
            }
        }
    }

    private func begin(_ submissions: ArraySlice<Submission>, at time: Timestamp, _ connection: Connection) {
        let start = now
        let database = node.database
        // Read before the bans, which are then at least as new.
        let revocations = node.access.revocations
        var work: Work!
        var transaction: Transaction!
        connection.call { (reply: @escaping (Result<Void, DatabaseError>) -> Void) in
            transaction = database.begin(on: connection)
            transaction.isIdle = false
            let rooms = Set(submissions.compactMap { $0.room.flatMap { database.tables.rooms[$0]?.number } }).sorted()
            let snapshot = database.tables
            func lock(_ index: Int) {
                guard index < rooms.count else {
                    let tables = database.mutation == .rowNotReadAgain ? snapshot : database.tables
                    work = Work(tables, at: time, lookedAt: database.scheduler.now)
                    work.locked = Set(submissions.compactMap(\.room)).sorted { $0.string < $1.string }
                    return reply(.success(()))
                }
                database.lock(.room(rooms[index]), transaction) {
                    lock(index + 1)
                } refused: {
                    database.rollback(transaction)
                    reply(.failure(.locked))
                }
            }
            lock(0)
        } then: { [self] result in
            if case .failure(let error) = result {
                return fail(error == .locked ? .locked(lockedRooms) : .connection)
            }
            work.apply(submissions, knowing: node.access)
            // A ban may have been committed during the wait for a lock. The decisions do not know it.
            if work.tables.revocations != revocations, node.mutation != .banDuringWait {
                database.rollback(transaction)
                return fail(.conflict)
            }
            // The process may have been stopped in the transaction.
            guard now - start < Submission.youth else {
                database.rollback(transaction)
                return fail(.abandoned)
            }
            commit(work, transaction, connection)
        }
    }

    private func commit(_ work: Work, _ transaction: Transaction, _ connection: Connection) {
        let database = node.database
        let event = work.event
        connection.call { [self] (reply: @escaping (Result<Void, DatabaseError>) -> Void) in
            guard transaction.state == .running else { return reply(.failure(.connection)) }
            let finish = { [self] in
                database.commit(transaction) { [self] tables in
                    write(work, event, into: &tables)
                    return work.changes
                } then: {
                    reply(.success(()))
                }
            }
            if event.changes.isEmpty { return finish() }
            database.lock(.server, transaction, then: finish) {
                database.rollback(transaction)
                reply(.failure(.locked))
            }
        } then: { [self] result in
            switch result {
            case .success: report(work)
            case .failure(.locked): fail(.locked(lockedRooms))
            case .failure: confirm(work, transaction, until: now + WriterTurns.patience)
            }
        }
    }

    private func write(_ work: Work, _ event: AccessEvent, into tables: inout Tables) {
        // Nobody else has changed the rooms that are locked, except read marks.
        for room in work.locked {
            var row = work.tables.rooms[room]!
            row.marks.merge(tables.rooms[room]!.marks, uniquingKeysWith: max)
            if work.restricted.contains(room), node.mutation != .revocationForgotten { row.access += 1 }
            tables.rooms[room] = row
        }
        if event.changes.isEmpty { return }
        for (key, ban) in work.bans where key.room == nil { tables.bans[key.user] = ban }
        tables.events.append(
            AccessState.Stored(id: tables.event + 1, node: node.access.node, event: event, bans: [:]))
        if event.isRevocation, node.mutation != .revocationForgotten { tables.revocations += 1 }
    }

    private func report(_ work: Work) {
        if !work.bans.isEmpty { node.access.bans.change(work.bans, at: work.time) }
        node.hint(work.batches, changesAccess: !work.event.changes.isEmpty)
        if !work.memberships.isEmpty { node.feeds.membershipsChanged(work.memberships) }
        if !work.ends.isEmpty { node.feeds.accessEnded(work.ends) }
        node.feeds.committed(work.outcomes, work.batches)
        turns.transacted(work.outcomes.count)
        soon()
    }

    /// Finds out what became of a transaction whose connection was lost in the commit.
    private func confirm(_ work: Work, _ transaction: Transaction, until deadline: ContinuousClock.Instant) {
        guard now < deadline else { return fail(.unknown(nil)) }
        connect { [self] isConnected in
            let again = { [self] in
                node.process.after(.milliseconds(50)) { [self] in confirm(work, transaction, until: deadline) }
            }
            guard isConnected else { return again() }
            connection!.call { (reply: (Result<Transaction.State, DatabaseError>) -> Void) in
                reply(.success(transaction.state))
            } then: { [self] result in
                switch result {
                case .success(.committed): report(work)
                case .success(.aborted): fail(.connection)
                case .success(.running), .failure: again()
                }
            }
        }
    }
}

extension Tables {
    /// Looks up rooms and their senders, as `PostgresConnection.answers` does.
    func answers(to questions: [KnownRooms.Question]) -> (answers: [KnownRooms.Answer], revocations: Int64)? {
        let answers = questions.compactMap { question in
            rooms[question.room].map { room in
                KnownRooms.Answer(
                    question: question,
                    room: KnownRooms.Room(number: room.number, access: room.access, facts: room.facts),
                    role: room.members[question.user])
            }
        }
        return answers.isEmpty ? nil : (answers, revocations)
    }
}
