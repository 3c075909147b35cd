import Chat
import Nodes
import Wire

/// One loop of a node: its feeds, subscriptions and requests, as `Worker` keeps them.
final class Loop {
    unowned let node: Node
    let index: Int
    let thread: WorkerThread
    private var feeds: [RoomID: Feed] = [:]
    private let context: FeedContext
    private var sockets: [Socket] = []
    private var outcomes: [UInt64: (request: Request, then: (Result<Receipt, Problem>) -> Void)] = [:]
    private var tickets: UInt64 = 0
    private var isResumeDue = false

    init(_ node: Node, index: Int) {
        self.node = node
        self.index = index
        thread = WorkerThread(node.process)
        context = FeedContext(
            epoch: World.epoch, feedLimit: node.world.settings.feedBytes,
            term: node.access.term, ends: node.ends)
    }

    /// Ends all sockets, because the process has died.
    func die() {
        for socket in sockets { socket.cut() }
    }

    // MARK: Requests

    /// Serves a change.
    func submit(
        _ change: Submission.Change, to room: RoomID?, by user: UserID, isAdmin: Bool = false, _ request: Request,
        then: @escaping (Result<Receipt, Problem>) -> Void
    ) {
        tickets += 1
        let ticket = Ticket(loop: index, number: tickets)
        outcomes[ticket.number] = (request, then)
        node.submit(
            Submission(
                ticket: ticket, room: room, sender: user, change: change, isAdmin: isAdmin,
                arrival: node.scheduler.instant))
    }

    /// Returns true if the client still waits for the outcome.
    func isAwaited(_ ticket: Ticket) -> Bool { outcomes[ticket.number]?.request.isClosed == false }

    func committed(_ results: [Outcome], _ batches: [EncodedBatch]) {
        for outcome in results { outcomes.removeValue(forKey: outcome.ticket.number)?.then(outcome.result) }
        for batch in batches {
            guard let feed = feeds[batch.room] else { continue }
            if !feed.publish(batch) { advanceLater(feed) }
        }
        resumeLater()
    }

    private func advanceLater(_ feed: Feed) {
        thread.post { [self] in
            if !feed.advance(), !feed.isWaiting { advanceLater(feed) }
            resumeLater()
        }
    }

    private func resumeLater() {
        guard !isResumeDue, context.hasWaiting else { return }
        isResumeDue = true
        node.process.after(.milliseconds(100)) { [self] in
            thread.post { [self] in
                isResumeDue = false
                resume()
                resumeLater()
            }
        }
    }

    private func resume() {
        for feed in context.takeWaiting() where !feed.resume() { advanceLater(feed) }
    }

    // MARK: Subscriptions

    /// Serves a new socket.
    func open(_ socket: Socket, since: Int64) {
        sockets.append(socket)
        let room = socket.room
        if feeds[room] == nil {
            node.subscribed.add(room, loop: index)
            feeds[room] = Feed(room: room, in: context, visits: 2)
        }
        let subscription = Chat.Subscription(feed: feeds[room]!, format: .webSocket, user: socket.user, since: since)
        socket.subscription = subscription
        read(for: socket, since: since) { [self] result in
            if let end = subscription.end { return socket.finish(end) }
            guard subscription.isActive else { return }
            switch result {
            case .success(let slice):
                guard since <= slice.state.rev else {
                    end(subscription)
                    return socket.finish(.cursorUnknown)
                }
                socket.push(.subscribed(slice.state))
                socket.begin(at: since)
                subscription.start(with: slice, on: socket)
                resumeLater()
            case .failure(let problem):
                end(subscription)
                socket.finish(problem)
            }
        }
    }

    /// Reads what a subscription asks for.
    func replay(_ socket: Socket, since rev: Int64) {
        read(for: socket, since: rev) { [self] result in
            guard let subscription = socket.subscription, subscription.isActive else { return }
            switch result {
            case .success(let slice): subscription.replayed(slice)
            case .failure(let problem): end([subscription], because: problem == .roomNotFound ? .notAMember : problem)
            }
            resumeLater()
        }
    }

    private func read(for socket: Socket, since rev: Int64, then: @escaping (Result<ReplaySlice, Problem>) -> Void) {
        let (room, user, node) = (socket.room, socket.user, node)
        node.read(self) { tables in
            if let refusal = node.refusal(user, room, tables) { return .failure(refusal) }
            return .success(tables.slice(of: room, since: rev, bytes: node.world.settings.sliceBytes, node.mutation))
        } isReplay: {
            (room, $0)
        } then: {
            then($0)
        }
    }

    func end(_ subscription: Subscription) {
        guard subscription.isActive else { return }
        subscription.cancel()
        sockets.removeAll { $0.subscription === subscription }
        let feed = subscription.feed
        guard feed.isIdle, feeds[feed.room] === feed else { return }
        feeds[feed.room] = nil
        node.subscribed.remove(feed.room, loop: index)
    }

    private func end(_ subscriptions: [Subscription], because problem: Problem) {
        for subscription in subscriptions where subscription.isActive {
            end(subscription)
            subscription.tellEnd(because: problem)
        }
    }

    /// The client has closed the socket, or takes bytes again.
    func closed(_ socket: Socket) { if let subscription = socket.subscription { end(subscription) } }
    func drained(_ socket: Socket) {
        guard let subscription = socket.subscription, subscription.isActive, subscription.hasStarted else { return }
        subscription.advance()
        resumeLater()
    }

    // MARK: Lost access

    func accessEnded(_ ends: [AccessEnd]) {
        for end in ends where node.mutation != .endForgotten {
            switch end {
            case .banned(let ban, let room?):
                guard let feed = feeds[room] else { continue }
                self.end(feed.subscribers.filter { $0.user == ban.user }, because: .banned(ban, isFromRoom: true))
            case .removed(let user, let room): recheck(user, room, asMember: true)
            case .becamePrivate(let room): recheck(nil, room, asMember: false)
            case .banned(let ban, nil):
                for feed in feeds.values.sorted(by: { $0.room.string < $1.room.string }) {
                    self.end(
                        feed.subscribers.filter { $0.user == ban.user }, because: .banned(ban, isFromRoom: false))
                }
            case .roomDeleted, .erased: break
            case .unknown:
                for feed in feeds.values.sorted(by: { $0.room.string < $1.room.string }) {
                    self.end(feed.subscribers, because: .unavailable("The node was away."))
                }
            }
        }
        context.handledEnd()
        resume()
    }

    private func recheck(_ only: UserID?, _ room: RoomID, asMember: Bool) {
        guard let feed = feeds[room] else { return }
        for subscription in feed.subscribers where only == nil || subscription.user == only {
            let (user, node) = (subscription.user!, node)
            subscription.hold()
            node.read(self) { tables -> Result<Bool, Problem> in
                if let refusal = node.refusal(user, room, tables) { return .failure(refusal) }
                return .success(!asMember || tables.rooms[room]?.members[user] != nil)
            } then: { [self] result in
                switch result {
                case .success(true): subscription.release()
                case .success(false): end([subscription], because: .notAMember)
                case .failure(let problem): end([subscription], because: problem)
                }
                resumeLater()
            }
        }
    }
}

extension Tables {
    /// A slice of a replay, as `ReadTransaction` reads it.
    func slice(of id: RoomID, since: Int64, bytes: Int, _ mutation: Mutation?) -> ReplaySlice {
        let room = rooms[id]!
        var changes = room.changes(since: mutation == .sliceRepeated ? since - 1 : since)
        if mutation == .cursorOffByOne, !changes.isEmpty { changes.removeFirst() }
        var frames: [UInt8] = []
        var last = since
        for change in changes {
            PushEncoding.appendFrame(change.row.body.span, to: &frames)
            last = change.row.rev
            if frames.count >= bytes { break }
        }
        return ReplaySlice(frames: frames, rev: last, hasMore: last < room.facts.rev, state: room.state)
    }
}

/// A request of a client, as its node sees it.
final class Request {
    /// True once the client has closed the connection.
    var isClosed = false
}

/// A client's socket. What is sent arrives in order; the end may be lost.
final class Socket: SubscriptionCarrier {
    enum Item {
        case subscribed(RoomState)
        case frames([UInt8])
        case live(Int64)
        case ended(Problem)
    }

    let world: World
    let loop: Loop
    let user: UserID
    let room: RoomID
    var subscription: Subscription?
    private let receive: (Item?) -> Void
    private var items: [Item] = []
    private var isMoving = false
    private var isCut = false
    private var isFinished = false
    /// The revision up to which it has sent everything.
    private var sent: Int64 = 0
    private let isSlow: Bool

    /// - Parameter receive: Gets what arrives; `nil` at the end.
    init(_ loop: Loop, _ user: UserID, _ room: RoomID, receive: @escaping (Item?) -> Void) {
        world = loop.node.world
        self.loop = loop
        self.user = user
        self.room = room
        self.receive = receive
        isSlow = world.scheduler.random.chance(0.25)
    }

    func begin(at rev: Int64) { sent = rev }

    // MARK: The node's side

    var isCongested: Bool { items.count > 1 }

    func send(_ frames: Span<UInt8>) {
        var bytes: [UInt8] = []
        for index in frames.indices { bytes.append(frames[index]) }
        var messages = Frames.messages(in: bytes)
        for body in messages { sent = world.oracle.sent(body, to: user, in: room, after: sent) }
        if world.mutation == .frameLost, world.scheduler.random.chance(0.05) { messages.removeFirst() }
        if world.mutation == .frameRepeated, world.scheduler.random.chance(0.05) { messages.insert(messages[0], at: 0) }
        bytes = []
        for body in messages { PushEncoding.appendFrame(body.span, to: &bytes) }
        push(.frames(bytes))
    }

    func sendLive(_ subscription: Subscription) { push(.live(subscription.rev)) }
    func replay(_ subscription: Subscription, since rev: Int64) { loop.replay(self, since: rev) }
    func ended(_ subscription: Subscription, because problem: Problem) { finish(problem) }

    func finish(_ problem: Problem) {
        guard !isFinished else { return }
        push(.ended(problem))
        isFinished = true
    }

    func push(_ item: Item) {
        guard !isCut, !isFinished else { return }
        items.append(item)
        move()
    }

    /// Lets the next items arrive.
    private func move() {
        guard !isMoving, !items.isEmpty, !isCut else { return }
        isMoving = true
        let scheduler = world.scheduler
        let time = scheduler.random.within(isSlow ? 1000...60_000 : 100...4000)
        scheduler.after(time) { [self] in
            isMoving = false
            guard !isCut else { return }
            if world.database.chance(world.settings.cutSockets) { return cut() }
            let wasCongested = isCongested
            let item = items.removeFirst()
            receive(item)
            if case .ended = item { return cut() }
            if wasCongested, !isCongested { loop.thread.post { [self] in loop.drained(self) } }
            move()
        }
    }

    /// Ends the connection. Both sides hear of it.
    func cut() {
        guard !isCut else { return }
        isCut = true
        items = []
        world.scheduler.after(world.scheduler.random.within(0...50_000)) { [self] in receive(nil) }
        let process = loop.node.process
        process.after(world.scheduler.random.within(0...200_000)) { [self] in
            loop.thread.post { [self] in loop.closed(self) }
        }
    }
}

/// WebSocket frames around messages.
enum Frames {
    private static let prefix = Array(#"{"type":"message","message":"#.utf8)

    /// Returns the snapshots in unmasked text frames.
    static func messages(in bytes: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var index = 0
        while index < bytes.count {
            var length = Int(bytes[index + 1])
            index += 2
            for (code, count) in [(126, 2), (127, 8)] where length == code {
                length = bytes[index..<index + count].reduce(0) { $0 << 8 | Int($1) }
                index += count
                break
            }
            found.append(Array(bytes[index + prefix.count..<index + length - 1]))
            index += length
        }
        return found
    }
}
