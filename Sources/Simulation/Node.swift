import Chat
import Nodes
import Wire

/// A server: its threads are simulated, what they decide is the product's.
// Sendable because one thread runs a simulation.
final class Node: LogObserver, @unchecked Sendable {
    let world: World
    let process: Process
    let access: AccessState
    let subscribed = SubscribedLoops()
    let ends = AccessEnds()
    private(set) var loops: [Loop] = []
    private(set) var feeds: NodeFeeds!
    private var writers: [Writer] = []
    private var listener: Listener!
    private var notifier: Notifier!
    private var readers: [Connection] = []
    /// True once it has read the bans, and accepts clients.
    private(set) var isReady = false

    var database: Database { world.database }
    var scheduler: Scheduler { world.scheduler }
    var mutation: Mutation? { world.mutation }

    init(_ world: World, name: String, number: Int) {
        self.world = world
        process = Process(world.scheduler)
        let scheduler = world.scheduler
        let offset = world.clockOffsets[number]
        access = AccessState(
            node: name, age: .seconds(1),
            clock: { Timestamp(milliseconds: 1_790_000_000_000 + scheduler.now / 1000 + offset.milliseconds) },
            term: AccessTerm(clock: { scheduler.instant }))
        feeds = NodeFeeds(self, subscribers: subscribed, wake: { [unowned self] in listener.wake() })
        loops = (0..<world.settings.loops).map { Loop(self, index: $0) }
        notifier = Notifier(self)
        writers = (0..<2).map { _ in Writer(self) }
        listener = Listener(self)
        access.report(to: feeds)
        start()
    }

    private func start() {
        let connection = Connection(database, process)
        let (start, known) = (scheduler.instant, access.known)
        connection.call { [self] (reply: (Result<AccessState.Found, DatabaseError>) -> Void) in
            reply(.success(database.tables.everything))
        } then: { [self] result in
            guard case .success(let found) = result else {
                return process.after(.milliseconds(50)) { [self] in self.start() }
            }
            _ = access.apply(found, after: known, from: start)
            isReady = true
            listener.begin()
        }
    }

    /// Ends the process, its connections and its sockets.
    func kill() {
        process.kill()
        for connection in readers { connection.breakDown() }
        for writer in writers { writer.connection?.breakDown() }
        listener.connection?.breakDown()
        for loop in loops { loop.die() }
    }

    /// Reads the new events of access.
    func catchUp(_ connection: Connection, then: @escaping (Bool) -> Void) {
        if mutation == .eventsForgotten {
            access.isCurrent(at: scheduler.instant)
            return process.after(0) { then(true) }
        }
        let (start, known) = (scheduler.instant, access.known)
        connection.call { [self] (reply: (Result<AccessState.Found, DatabaseError>) -> Void) in
            reply(.success(database.tables.found(after: known.event)))
        } then: { [self] result in
            guard case .success(let found) = result else { return then(false) }
            if access.apply(found, after: known, from: start) { then(true) } else { catchUp(connection, then: then) }
        }
    }

    func submit(_ submission: Submission) {
        writers[(submission.room.map(world.number) ?? 0) % writers.count].submit(submission)
    }

    func hint(_ batches: [Batch], changesAccess: Bool) { notifier.add(batches, changesAccess: changesAccess) }

    // MARK: Reads

    /// Reads a snapshot on one of the readers' threads. `then` is called on the loop.
    func read<Value>(
        _ loop: Loop, _ body: @escaping (Tables) -> Result<Value, Problem>,
        isReplay room: ((Value) -> (RoomID, ReplaySlice))? = nil, then: @escaping (Result<Value, Problem>) -> Void
    ) {
        process.after(process.pause) { [self] in
            let connection = readers.popLast() ?? Connection(database, process)
            func answer(_ result: Result<Value, Problem>) {
                if connection.isOpen { readers.append(connection) }
                if let room, case .success(let value) = result, mutation != .sliceUntold {
                    let (id, slice) = room(value)
                    let reply = Reply<ReplaySlice>(loop: loop.index, client: .connection(0)) { _ in }
                    reply.answer(slice)
                    feeds.answered([
                        Query(reply) { .room(id, .replay(since: nil, format: .webSocket, bytes: 0, $0)) }
                    ])
                }
                process.after(process.pause) { loop.thread.post { then(result) } }
            }
            func select() {
                connection.call { [self] (reply: (Result<Tables, DatabaseError>) -> Void) in
                    reply(.success(database.tables))
                } then: { result in
                    guard case .success(let tables) = result else { return answer(.failure(.unavailable("lost"))) }
                    answer(body(tables))
                }
            }
            if access.term.isValid { return select() }
            catchUp(connection) { if $0 { select() } else { answer(.failure(.unavailable("lost"))) } }
        }
    }

    /// Refuses a read of a room that its reader may not see, as a `ReadTransaction` does.
    func refusal(_ user: UserID, _ room: RoomID, _ tables: Tables) -> Problem? {
        let row = tables.rooms[room]
        let refusal = ReadRules.refusal(
            of: room, row.map { ($0.facts.isPrivate, $0.facts.isDeleted) }, isAdmin: false, Facts.Policy()
        ) { row?.members[user] != nil }
        return refusal ?? access.bans.refusal(of: user, in: room, isAdmin: false, for: .read, at: access.clock())
    }

    // MARK: What the log reports

    func membershipsChanged(_ changes: [MembershipChange]) {}

    func accessEnded(_ ends: [AccessEnd]) {
        self.ends.announce()
        for loop in loops { loop.thread.post { loop.accessEnded(ends) } }
    }

    func committed(_ outcomes: [Outcome], _ batches: [Batch]) {
        let parts = subscribed.distribute(batches, loops: loops.count)
        for (index, loop) in loops.enumerated() {
            let mine = outcomes.filter { $0.ticket.loop == index }
            if mine.isEmpty, parts[index].isEmpty { continue }
            let isLost = mutation == .batchLost && scheduler.random.chance(0.05)
            loop.thread.post { loop.committed(mine, isLost ? [] : parts[index]) }
        }
    }

    func fetched(_ replies: [any PendingReply]) {}
}

/// The thread that sends hints, as `Notifier` does.
private final class Notifier {
    private unowned let node: Node
    private var hints = Hints()
    private var isDue = false

    init(_ node: Node) { self.node = node }

    func add(_ batches: [Batch], changesAccess: Bool) {
        for batch in batches { hints.add(batch.room, rev: batch.rev) }
        if changesAccess { hints.addEvents() }
        guard !isDue, !hints.isEmpty else { return }
        isDue = true
        node.process.after(node.scheduler.random.within(100...4000)) { [self] in
            isDue = false
            let payloads = hints.payloads(from: node.access.node)
            hints = Hints()
            let database = node.database
            for payload in payloads {
                node.scheduler.after(node.scheduler.random.within(50...500)) {
                    if !database.isDown { database.notify(payload) }
                }
            }
        }
    }
}

/// The thread that learns what other nodes have committed, as `HintListener` does.
private final class Listener {
    private unowned let node: Node
    private(set) var connection: Connection?
    private var turns: ListenerTurns!
    private var payloads: [String] = []
    private var isWaiting = false
    /// Tells a deadline from a later one.
    private var waits = 0

    init(_ node: Node) { self.node = node }

    func begin() {
        guard !node.database.isDown else { return node.process.after(.milliseconds(100)) { [self] in begin() } }
        let connection = Connection(node.database, node.process)
        self.connection = connection
        payloads = []
        node.database.listen(connection) { [self] payload in
            guard self.connection === connection else { return }
            payloads.append(payload)
            wake()
        }
        turns = ListenerTurns(
            ListenerTurns.Limits(looks: 2, comparisons: 2), at: node.scheduler.instant)
        turn()
    }

    func wake() {
        guard isWaiting else { return }
        isWaiting = false
        node.process.after(node.process.pause) { [self] in turn() }
    }

    private func wait() {
        isWaiting = true
        waits += 1
        let wait = waits
        guard let deadline = turns.deadline(node.feeds) else { return wake() }
        let left = (deadline - node.scheduler.instant) / .microseconds(1)
        node.process.after(Int64(left.rounded(.up))) { [self] in if waits == wait { wake() } }
    }

    private func turn() {
        var hints = Hints()
        for payload in payloads {
            if case .hints(let heard, let sender) = Hints.parse(payload), sender != node.access.node {
                hints.add(heard)
            }
        }
        payloads = []
        if node.mutation == .hintTrusted { trust(hints) }
        turns.begin(hearing: hints, at: node.scheduler.instant)
        proceed()
    }

    private func proceed() {
        guard connection!.isOpen else { return fail() }
        guard let read = turns.next(node.feeds) else { return wait() }
        switch read {
        case .events: node.catchUp(connection!) { [self] in if $0 { proceed() } else { fail() } }
        case .horizon:
            ask { _ in
                ListenerTurns.Horizon(transaction: 0, pages: .max)
            } then: { [self] in
                turns.found($0)
            }
        case .revisions(beyond: let looks):
            ask { [self] tables in
                var hints = Hints()
                if node.mutation == .noSweep { return hints }
                for look in looks {
                    if let rev = tables.rooms[look.room]?.facts.rev, rev > look.since.rev {
                        hints.add(look.room, rev: rev)
                    }
                }
                return hints
            } then: { [self] in
                turns.found($0, node.feeds)
            }
        case .changedRooms: proceed()  // The table is never as small as that.
        case .changes(let looks):
            ask { [self] tables in
                looks.map { look in
                    (
                        look: look,
                        answer: tables.answer(
                            to: look, atMost: node.world.settings.lookMessages,
                            forgettingRest: node.mutation == .restForgotten)
                    )
                }
            } then: { [self] in
                turns.found($0, node.feeds)
            }
        }
    }

    private func ask<Value>(_ body: @escaping (Tables) -> Value, then: @escaping (Value) -> Void) {
        connection!.call { [self] (reply: (Result<Value, DatabaseError>) -> Void) in
            reply(.success(body(node.database.tables)))
        } then: { [self] result in
            guard case .success(let value) = result else { return fail() }
            // The answer waits for its turn, as everything does on a thread.
            node.process.after(node.process.pause) { [self] in
                then(value)
                proceed()
            }
        }
    }

    private func fail() {
        turns.failed(node.feeds)
        connection!.breakDown()
        node.process.after(node.scheduler.random.within(1000...300_000)) { [self] in begin() }
    }

    /// A mutation: takes the hinted revisions for what the feeds have.
    private func trust(_ hints: Hints) {
        node.feeds.hinted(hints)
        let looks = node.feeds.takeLooks(.max)
        node.feeds.looked(
            looks.map { look in
                let rev = hints.rooms[look.room] ?? look.since.rev
                let batch = Batch(
                    room: look.room, since: look.since.rev, revs: [], rev: rev, head: look.since.head, messages: [])
                return (look, FeedPositions.Answer(batch: batch, hasMore: false))
            })
    }
}
