import Chat
import Nodes
import Wire

/// A failure of a statement, as the client sees it.
enum DatabaseError: Error {
    /// The connection was lost, before or after the statement.
    case connection
    /// A lock was held for too long.
    case locked
    /// The unique index of client message ids has refused a row.
    case repeated
}

/// A database in memory with PostgreSQL's rules: each statement sees a snapshot, rows are locked in order, and a locked row is
/// read again after the wait for it. A commit may be durable although nobody hears of it.
final class Database {
    enum Key: Hashable {
        case room(Int64), server
    }

    private struct Waiter {
        let transaction: Transaction
        let then: () -> Void
    }

    let scheduler: Scheduler
    let settings: Settings
    let mutation: Mutation?
    /// Hears of each durable commit.
    var onCommit: (_ before: Tables, _ after: Tables, _ changes: [Change]) -> Void = { _, _, _ in }
    private(set) var tables = Tables()
    /// The difference between the database's clock and virtual time, in milliseconds.
    var clockOffset: Int64 = 0
    private(set) var isDown = false
    private var holders: [Key: Transaction] = [:]
    private var waiters: [Key: [Waiter]] = [:]
    private var connections: [Connection] = []
    private var count = 0
    /// The connections that listen.
    private var listeners: [(connection: Connection, hear: (String) -> Void)] = []
    /// Faults may happen. False once the run settles.
    var isFaulty = true

    /// Time that a transaction waits for a lock, and that one may be idle.
    static let lockTime = Int64.milliseconds(700)
    static let idleTime = Int64.seconds(2)

    init(_ scheduler: Scheduler, _ settings: Settings, _ mutation: Mutation?) {
        self.scheduler = scheduler
        self.settings = settings
        self.mutation = mutation
    }

    /// Creates rooms before the start.
    func create(_ room: Tables.Room) { tables.rooms[room.id] = room }

    var time: Timestamp { Timestamp(milliseconds: 1_790_000_000_000 + scheduler.now / 1000 + clockOffset) }

    func chance(_ probability: Double) -> Bool { isFaulty && probability > 0 && scheduler.random.chance(probability) }

    // MARK: Connections

    func opened(_ connection: Connection) { connections.append(connection) }

    func listen(_ connection: Connection, _ hear: @escaping (String) -> Void) { listeners.append((connection, hear)) }

    /// Notices that a client has gone: rolls its transaction back, unless a statement is still running.
    func closed(_ connection: Connection) {
        connections.removeAll { $0 === connection }
        listeners.removeAll { $0.connection === connection }
        scheduler.after(scheduler.random.within(0...400_000)) { [self] in
            if let transaction = connection.transaction, transaction.isIdle { rollback(transaction) }
        }
    }

    func crash() {
        isDown = true
        for connection in connections {
            if let transaction = connection.transaction { rollback(transaction) }
            connection.breakDown()
        }
        scheduler.after(scheduler.random.within(200_000...1_500_000)) { [self] in isDown = false }
    }

    func restart() { isDown = false }

    /// Delivers a notification to all that listen.
    func notify(_ payload: String) {
        for (connection, hear) in listeners {
            if mutation == .noSweep || chance(settings.lostHints) { continue }
            for _ in 0...(chance(settings.lostHints) ? 1 : 0) {
                scheduler.after(scheduler.random.within(100...(chance(0.1) ? 400_000 : 3000))) {
                    if connection.isOpen { hear(payload) }
                }
            }
        }
    }

    // MARK: Transactions

    func begin(on connection: Connection) -> Transaction {
        count += 1
        let transaction = Transaction(number: count)
        connection.transaction = transaction
        return transaction
    }

    /// Locks a row. `then` may come later; it does not come if the transaction ends while it waits.
    func lock(
        _ key: Key, _ transaction: Transaction, then: @escaping () -> Void, refused: @escaping () -> Void
    ) {
        if mutation == .noRowLock, key != .server { return then() }
        if holders[key] === transaction { return then() }
        guard holders[key] != nil else {
            holders[key] = transaction
            return then()
        }
        waiters[key, default: []].append(Waiter(transaction: transaction, then: then))
        scheduler.after(Self.lockTime) { [self] in
            guard let index = waiters[key]?.firstIndex(where: { $0.transaction === transaction }) else { return }
            waiters[key]!.remove(at: index)
            refused()
        }
    }

    private func end(_ transaction: Transaction, as state: Transaction.State) {
        transaction.state = state
        for key in waiters.keys { waiters[key]!.removeAll { $0.transaction === transaction } }
        for key in holders.keys.sorted(by: { "\($0)" < "\($1)" }) where holders[key] === transaction {
            holders[key] = nil
            guard let next = waiters[key]?.first else { continue }
            waiters[key]!.removeFirst()
            holders[key] = next.transaction
            scheduler.after(scheduler.random.within(10...300)) {
                if next.transaction.state == .running { next.then() }
            }
        }
    }

    func rollback(_ transaction: Transaction) {
        if transaction.state == .running { end(transaction, as: .aborted) }
    }

    /// Makes a transaction durable, which takes a moment.
    ///
    /// - Parameters:
    ///   - effect: Returns the changes of messages.
    ///   - then: Called once it is; never if the database crashes before.
    func commit(
        _ transaction: Transaction, _ effect: @escaping (inout Tables) -> [Change],
        then: @escaping () -> Void
    ) {
        if mutation == .answerBeforeCommit { then() }
        scheduler.after(scheduler.random.within(100...3000)) { [self] in
            guard transaction.state == .running else { return }
            let before = tables
            let changes = effect(&tables)
            end(transaction, as: .committed)
            onCommit(before, tables, changes)
            if mutation != .answerBeforeCommit { then() }
        }
    }

    // MARK: Statements

    /// Stores a batch of sends, as the statement in `SendStatements` does.
    func store(
        _ batch: SendBatch, revocations: Int64, on connection: Connection,
        _ reply: @escaping (Result<SendAnswer, DatabaseError>) -> Void
    ) {
        let (snapshot, looked) = (tables, scheduler.now)
        let transaction = begin(on: connection)
        transaction.isIdle = false
        let time = time
        var stored: [SendBatch.Stored?] = Array(repeating: nil, count: batch.rooms.count)
        func finish() {
            for (room, state) in zip(batch.rooms, stored) where state != nil && mutation != .noUniqueIndex {
                let row = tables.rooms[room.id]!
                let isRepeated = room.sends.contains { index in
                    let (submission, draft) = batch.sends[index]
                    return draft.clientMessageID != nil
                        && row.messages.contains {
                            $0.sender == submission.sender && $0.clientMessageID == draft.clientMessageID
                        }
                }
                if isRepeated {
                    rollback(transaction)
                    return reply(.failure(.repeated))
                }
            }
            commit(transaction) { tables in
                zip(batch.rooms, stored).flatMap { room, state in
                    state.map {
                        tables.rooms[room.id]!.append(room.sends.map { batch.sends[$0] }, after: $0, lookedAt: looked)
                    } ?? []
                }
            } then: {
                reply(.success(.stored(stored)))
            }
        }
        func take(_ index: Int) {
            guard index < batch.rooms.count else { return finish() }
            let room = batch.rooms[index]
            // The WHERE of the snapshot decides which rows are locked.
            guard let seen = snapshot.rooms[room.id], seen.access == room.access,
                snapshot.revocations == revocations || mutation == .serverBanUnseen
            else {
                return take(index + 1)
            }
            lock(.room(room.number), transaction) { [self] in
                let row = mutation == .rowNotReadAgain ? seen : tables.rooms[room.id]!
                if row.access == room.access {
                    let latest = mutation == .timeSetBack ? time : max(time, row.facts.latest)
                    stored[index] = SendBatch.Stored(head: row.facts.head, rev: row.facts.rev, time: latest)
                }
                take(index + 1)
            } refused: { [self] in
                rollback(transaction)
                reply(.failure(.locked))
            }
        }
        take(0)
    }

    /// Moves read marks, as the statement in `MarkStatements` does.
    func move(
        _ batch: MarkBatch, _ revocations: Int64, on connection: Connection,
        _ reply: @escaping (Result<[MarkBatch.Moved?], DatabaseError>) -> Void
    ) {
        let snapshot = tables
        let transaction = begin(on: connection)
        transaction.isIdle = false
        let found = batch.marks.map { mark -> Int64? in
            guard let row = snapshot.rooms[mark.id], row.access == mark.access, snapshot.revocations == revocations
            else {
                return nil
            }
            return min(mark.seq, row.facts.head)
        }
        var moved: [MarkBatch.Moved?] = []
        commit(transaction) { tables in
            for (mark, seq) in zip(batch.marks, found) {
                guard let seq else {
                    moved.append(nil)
                    continue
                }
                let known = tables.rooms[mark.id]!.marks[mark.person.user] ?? 0
                tables.rooms[mark.id]!.marks[mark.person.user] = max(known, seq)
                moved.append((max(known, seq), seq > known))
            }
            return []
        } then: {
            reply(.success(moved))
        }
    }

    /// Returns those of the rooms that another transaction has locked.
    func locked(among rooms: [RoomID]) -> Set<RoomID> {
        Set(rooms.filter { id in tables.rooms[id].map { holders[.room($0.number)] != nil } ?? false })
    }
}

/// A transaction of the database.
final class Transaction {
    enum State {
        case running, committed, aborted
    }

    let number: Int
    var state = State.running
    /// False while one of its statements runs.
    var isIdle = true
    /// The number of statements, by which an idle transaction is told from one that went on.
    var statements = 0

    init(number: Int) {
        self.number = number
    }
}

/// A node's connection to the database.
final class Connection {
    let database: Database
    let process: Process
    private(set) var isOpen = true
    var transaction: Transaction?
    private var waiting: [Int: () -> Void] = [:]
    private var count = 0

    init(_ database: Database, _ process: Process) {
        self.database = database
        self.process = process
        database.opened(self)
    }

    /// Runs a statement.
    ///
    /// - Parameters:
    ///   - work: Runs in the database, and replies once.
    ///   - then: Gets the result on the node.
    func call<Value>(
        _ work: @escaping (@escaping (Result<Value, DatabaseError>) -> Void) -> Void,
        then: @escaping (Result<Value, DatabaseError>) -> Void
    ) {
        let scheduler = database.scheduler
        guard isOpen else { return process.after(process.pause) { then(.failure(.connection)) } }
        count += 1
        let number = count
        waiting[number] = { then(.failure(.connection)) }
        scheduler.after(delay) { [self] in
            guard isOpen else { return }
            if database.isDown || database.chance(database.settings.database.lostStatements) { return breakDown() }
            transaction?.isIdle = false
            work { [self] result in
                transaction?.isIdle = true
                watch()
                guard isOpen else {
                    if let transaction { database.rollback(transaction) }
                    return
                }
                if database.chance(database.settings.database.lostAnswers) { return breakDown() }
                scheduler.after(delay) { [self] in
                    process.after(0) { [self] in
                        guard waiting.removeValue(forKey: number) != nil else { return }
                        then(result)
                    }
                }
            }
        }
        // The node's bound for an answer.
        scheduler.after(.seconds(4)) { [self] in if waiting[number] != nil { breakDown() } }
    }

    private var delay: Int64 {
        database.scheduler.random.within(50...(database.chance(0.02) ? 200_000 : 600))
    }

    /// Ends a transaction that stays idle, because the node may have been stopped.
    private func watch() {
        guard let transaction, transaction.state == .running else { return }
        transaction.statements += 1
        let statements = transaction.statements
        database.scheduler.after(Database.idleTime) { [self] in
            guard transaction.state == .running, transaction.isIdle, transaction.statements == statements else {
                return
            }
            database.rollback(transaction)
            breakDown()
        }
    }

    /// Ends the connection. The node hears of it sooner or later.
    func breakDown() {
        guard isOpen else { return }
        isOpen = false
        database.closed(self)
        let handlers = waiting.sorted { $0.key < $1.key }.map(\.value)
        waiting = [:]
        for handler in handlers { process.after(database.scheduler.random.within(10...20_000), handler) }
    }
}

extension Tables.Room {
    /// Appends sends after a state of the room.
    ///
    /// - Returns: The changes.
    mutating func append(
        _ sends: [(submission: Submission, draft: Draft)], after state: SendBatch.Stored, lookedAt: Int64
    ) -> [Change] {
        facts.head = state.head
        facts.rev = state.rev
        facts.latest = state.time
        for (submission, draft) in sends {
            let message = facts.append(draft, by: submission.sender, to: id, at: state.time)!
            messages.append(
                Tables.MessageRow(
                    body: message.stored.body, sender: submission.sender, clientMessageID: draft.clientMessageID,
                    rev: message.stored.rev, first: message.stored.rev))
        }
        return messages.suffix(sends.count).map { Change(room: id, user: $0.sender, body: $0.body, lookedAt: lookedAt) }
    }
}
