import BackscrollTimeline
import Chat
import Nodes
import Wire

/// A message, as timelines keep it.
struct Text: TimelineMessage {
    let seq: Int64
    let rev: Int64
    let senderID: String
    let clientMessageID: String?
    let createdAt: Timestamp
    let isDeleted: Bool
    /// True if it is not as it was sent.
    let isChanged: Bool
    let body: [UInt8]

    var createdMilliseconds: Int64 { createdAt.milliseconds }
}

/// A draft of a client.
struct Note: TimelineDraft {
    let clientMessageID: String
    let text: String
}

/// Everything that one seed simulates.
final class World {
    static let epoch = "E"

    let scheduler: Scheduler
    let settings: Settings
    let mutation: Mutation?
    let database: Database
    private(set) var oracle: Oracle!
    private(set) var nodes: [Node] = []
    private(set) var clients: [Client] = []
    private(set) var users: [UserID] = []
    /// The differences between the nodes' clocks and virtual time, in milliseconds.
    private(set) var clockOffsets: [ClockOffset] = []
    let rooms = ["open", "private"].map { RoomID(trusted: $0) }
    let owner = UserID(trusted: "owner")
    private var texts: [[UInt8]: Text] = [:]
    private var started = 0
    /// The faults that happened.
    private(set) var faults: [String: Int] = [:]

    /// A clock that jumps.
    final class ClockOffset: @unchecked Sendable {
        var milliseconds: Int64 = 0
    }

    init(seed: UInt64, mutation: Mutation? = nil) {
        scheduler = Scheduler(seed: seed)
        settings = Settings(&scheduler.random)
        self.mutation = mutation
        database = Database(scheduler, settings, mutation)
        oracle = Oracle(self)
        database.onCommit = { [unowned self] in oracle.committed($0, $1, $2) }
        users = (0..<settings.clients).map { UserID(trusted: "user\($0)") }
        for (index, id) in rooms.enumerated() {
            var room = Tables.Room(id: id, number: Int64(index + 1))
            room.members[owner] = .owner
            room.facts.isPrivate = index == 1
            if index == 1 { for user in users { room.members[user] = .member } }
            database.create(room)
        }
        for number in 0..<settings.nodes {
            clockOffsets.append(ClockOffset())
            nodes.append(node(number))
        }
        for (index, user) in users.enumerated() {
            clients.append(Client(self, user, rooms[settings.clients > 3 ? index % 2 : scheduler.random.below(2)]))
        }
    }

    private func node(_ number: Int) -> Node {
        started += 1
        return Node(self, name: "node\(started)", number: number)
    }

    func number(of room: RoomID) -> Int { rooms.firstIndex(of: room)! }

    /// Returns true if a user may send to a room.
    func maySend(_ user: UserID, to room: RoomID) -> Bool {
        database.tables.bans[user] == nil && database.tables.permitsSends(of: user, to: room)
    }

    /// Decodes a snapshot, once.
    func text(_ body: [UInt8]) -> Text {
        if let text = texts[body] { return text }
        let message = try! Message(decoding: body)
        let text = Text(
            seq: message.seq, rev: message.rev, senderID: message.sender.string,
            clientMessageID: message.clientMessageID, createdAt: message.createdAt, isDeleted: message.deleted,
            isChanged: message.rev != message.seq
                && (!message.isAsSent || !message.reactions.isEmpty || message.rev < message.seq), body: body)
        texts[body] = text
        return text
    }

    // MARK: The run

    /// Runs the simulation.
    ///
    /// - Returns: What was violated; `nil` if nothing was.
    func run() -> String? {
        let isOver = { [unowned self] in oracle.violation != nil }
        for client in clients { client.begin() }
        schedule(settings.kills) { [unowned self] in kill(scheduler.random.below(nodes.count)) }
        schedule(settings.stops) { [unowned self] in stop() }
        schedule(settings.crashes) { [unowned self] in
            count("crashes of the database")
            database.crash()
        }
        schedule(settings.clocks) { [unowned self] in moveClock() }
        schedule(settings.removals) { [unowned self] in changeAccess() }
        scheduler.run(until: settings.time, isOver: isOver)
        settle()
        scheduler.run(until: scheduler.now + .seconds(45), isOver: isOver)
        for _ in 0..<60 where oracle.violation == nil {
            let isDone = clients.map { $0.load() }.allSatisfy { $0 }
            scheduler.run(until: scheduler.now + .milliseconds(300), isOver: isOver)
            if isDone { break }
        }
        // A send may just have been tried again. Without its hint, the others hear of it by the next sweep.
        scheduler.run(until: scheduler.now + .seconds(2), isOver: isOver)
        if oracle.violation == nil { oracle.compare(clients) }
        for node in nodes { node.kill() }
        return oracle.violation
    }

    func count(_ fault: String) { faults[fault, default: 0] += 1 }

    /// Repeats a fault at random times.
    private func schedule(_ mean: Int64?, _ body: @escaping () -> Void) {
        guard let mean else { return }
        scheduler.after(scheduler.random.within(0...2 * mean)) { [unowned self] in
            guard database.isFaulty else { return }
            body()
            schedule(mean, body)
        }
    }

    private func kill(_ number: Int) {
        guard nodes[number].process.isAlive else { return }
        count("deaths of nodes")
        nodes[number].kill()
        scheduler.after(scheduler.random.within(50_000...2_000_000)) { [unowned self] in revive(number) }
    }

    private func revive(_ number: Int) {
        guard !nodes[number].process.isAlive else { return }
        nodes[number] = node(number)
    }

    private func stop() {
        count("stops of nodes")
        let process = scheduler.random.pick(nodes).process
        guard settings.removals != nil, scheduler.random.chance(0.6) else {
            return process.stop(for: scheduler.random.within(20_000...4_000_000))
        }
        // With messages under way, and for so long that it may send nothing afterwards.
        for client in clients { scheduler.after(scheduler.random.within(0...4000)) { client.send() } }
        scheduler.after(scheduler.random.within(500...5000)) { [unowned self] in
            process.stop(for: scheduler.random.within(1_100_000...3_000_000))
            changeAccess()
        }
    }

    private func moveClock() {
        count("jumps of clocks")
        let jump = scheduler.random.within(-90_000...90_000)
        switch scheduler.random.below(3) {
        case 0: database.clockOffset += jump
        case 1: scheduler.random.pick(clockOffsets).milliseconds += jump
        default: scheduler.random.pick(clients).clockOffset += Double(jump)
        }
    }

    /// Takes a user's access away, or gives it back: as an owner in a room, or as an admin.
    private func changeAccess() {
        let user = scheduler.random.pick(users)
        let room = scheduler.random.pick(rooms)
        let row = database.tables.rooms[room]!
        let isBanned = database.tables.bans[user] != nil
        if scheduler.random.chance(isBanned ? 0.6 : 0.1) {
            let ban = UserChange.ban(BanSettings(scope: scheduler.random.chance(0.5) ? .all : .send))
            return changeAccess(.user(user, isBanned ? .liftBan : ban), in: nil, of: user)
        }
        let change: RoomChange
        if scheduler.random.chance(0.1) {
            change = .set(RoomSettings(visibility: row.facts.isPrivate ? .open : .private))
        } else if scheduler.random.chance(0.1) {
            change = .set(RoomSettings(posting: row.facts.posting == .owners ? .members : .owners))
        } else if row.bans[user] != nil {
            change = .removeBan(user)
        } else if !database.tables.admits(user, to: room) {
            change = .setMember(user, .member)
        } else if scheduler.random.chance(0.3) {
            change = .setBan(user, BanSettings(scope: scheduler.random.chance(0.5) ? .all : .send))
        } else if row.members[user] != nil {
            change = .removeMember(user)
        } else {
            change = .setMember(user, .member)
        }
        changeAccess(.room(change), in: room, of: user)
    }

    private func changeAccess(_ change: Submission.Change, in room: RoomID?, of user: UserID) {
        count("changes of access")
        // The user is busy at that moment.
        for client in clients where client.user == user && client.room == room ?? client.room {
            for _ in 0..<3 { scheduler.after(scheduler.random.within(0...6000)) { client.change() } }
        }
        request { [unowned self] loop, request, reply in
            loop.submit(change, to: room, by: owner, isAdmin: room == nil, request) { reply($0) }
        } then: { (_: Result<Receipt, Problem>?) in
        }
    }

    /// Ends all faults, and lets everything recover.
    private func settle() {
        database.isFaulty = false
        database.restart()
        for node in nodes { node.process.resume() }
        for number in nodes.indices { revive(number) }
        for client in clients { client.settle() }
    }

    // MARK: Requests

    /// Makes a request at some node.
    ///
    /// - Parameter then: Gets the answer; `nil` if none came.
    func request<Value>(
        _ serve: @escaping (Loop, Request, @escaping (Value) -> Void) -> Void, then: @escaping (Value?) -> Void
    ) {
        var isDone = false
        let request = Request()
        func finish(_ value: Value?, after time: Int64) {
            scheduler.after(time) {
                if isDone { return }
                isDone = true
                then(value)
            }
        }
        func deliver(_ request: Request) {
            let ready = nodes.filter { $0.process.isAlive && $0.isReady }
            guard !ready.isEmpty else { return finish(nil, after: 20_000) }
            let node = scheduler.random.pick(ready)
            let loop = scheduler.random.pick(node.loops)
            node.process.after(delay) { [self] in
                loop.thread.post { [self] in
                    serve(loop, request) { [self] value in
                        if database.chance(settings.lostAnswers) { return finish(nil, after: delay) }
                        finish(value, after: delay)
                    }
                }
            }
        }
        if database.chance(settings.lostRequests) { return finish(nil, after: 20_000) }
        deliver(request)
        // A proxy, or a client that hears of a lost connection late, may send a request twice.
        if database.chance(settings.repeatedRequests) { deliver(Request()) }
        scheduler.after(.seconds(3)) { [self] in
            guard !isDone else { return }
            isDone = true
            scheduler.after(delay) { request.isClosed = true }
            then(nil)
        }
    }

    var delay: Int64 { scheduler.random.within(100...(database.chance(0.05) ? 300_000 : 3000)) }
}
