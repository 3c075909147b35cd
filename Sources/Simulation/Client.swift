import BackscrollTimeline
import Chat
import Wire

/// A client that shows a room: the timeline is the product's, its host is simulated.
final class Client {
    typealias RoomTimeline = Timeline<Text, Note>

    unowned let world: World
    let user: UserID
    let room: RoomID
    private(set) var timeline: RoomTimeline
    /// The difference between the client's clock and virtual time, in milliseconds.
    var clockOffset = 0.0
    private var socket: Socket?
    private var drafts = 0

    init(_ world: World, _ user: UserID, _ room: RoomID) {
        self.world = world
        self.user = user
        self.room = room
        timeline = RoomTimeline(
            me: user.string, room: room.string, limit: world.settings.pageLimit, windowLimit: world.settings.windowLimit
        )
    }

    private var random: Random {
        get { world.scheduler.random }
        set { world.scheduler.random = newValue }
    }

    func begin() {
        handle(.open(at: random.pick([.last, .read, .seq(3)])))
        tick()
        act()
    }

    private func tick() {
        handle(.time(now: Double(world.scheduler.now) / 1000 + clockOffset))
        world.scheduler.after(.milliseconds(200)) { [self] in tick() }
    }

    // MARK: The user

    private func act() {
        guard world.database.isFaulty else { return }
        switch random.below(16) {
        case 0...5: send()
        case 6: handle(.near(.before))
        case 7: handle(.near(.after))
        case 8: handle(.jump(to: random.pick([.last, .read, .seq(random.within(1...20))])))
        case 9: handle(.viewport(atBottom: random.chance(0.5), lastVisible: shown()?.seq))
        case 10: if random.chance(0.2) { handle(.open(at: .last)) }
        case 11: if random.chance(0.3) { handle(.active(random.chance(0.7))) }
        default: change()
        }
        world.scheduler.after(random.within(2000...200_000)) { [self] in act() }
    }

    /// Returns some message on the screen; `nil` if there is none.
    private func shown() -> Text? {
        let messages = timeline.view.rows.compactMap { row -> Text? in
            if case .message(let message, _) = row.content { message } else { nil }
        }
        return messages.isEmpty ? nil : random.pick(messages)
    }

    func send() {
        drafts += 1
        let note = Note(clientMessageID: "\(user)-\(drafts)", text: "text \(drafts)")
        guard random.chance(0.9) else { return post(note, withID: false) }
        handle(.send(note, at: world.scheduler.now / 1000))
    }

    /// Changes a message on the screen, or sends one without a client message id.
    func change() {
        guard let message = shown() else { return }
        let isOwn = message.senderID == user.string
        let action: MessageChange.Action
        switch random.below(isOwn ? 4 : 2) {
        case 0: action = .addReaction(try! ReactionKey("👍"))
        case 1: action = .removeReaction(try! ReactionKey("👍"))
        case 2: action = .delete
        default:
            drafts += 1
            action = .edit(Edit(text: "edit \(drafts)"))
        }
        world.request { [self] loop, request, reply in
            loop.submit(
                .change(MessageChange(seq: message.seq, action: action)), to: room, by: user, request, then: reply)
        } then: { [self] (result: Result<Receipt, Problem>?) in
            if case .success(.message(let stored, _)) = result {
                world.oracle.acknowledged(stored, in: room, as: nil, of: user)
            }
        }
    }

    // MARK: The host

    func handle(_ event: RoomTimeline.Event) {
        for effect in timeline.handle(event) { perform(effect) }
    }

    private func perform(_ effect: RoomTimeline.Effect) {
        switch effect {
        case .fetch(let number, let query): fetch(number, query)
        case .subscribe(let since, _): subscribe(since: since)
        case .post(let note): post(note, withID: true)
        case .markRead(let seq):
            world.request { [self] loop, request, reply in
                loop.submit(.read(seq: seq), to: room, by: user, request, then: reply)
            } then: { (_: Result<Receipt, Problem>?) in
            }
        case .scroll: break
        }
    }

    private func failure(_ problem: Problem?) -> RoomTimeline.Failure {
        RoomTimeline.Failure(status: problem?.status ?? 0, code: problem?.code.string)
    }

    private func fetch(_ number: Int, _ query: RoomTimeline.Query) {
        world.request { [self] loop, _, reply in
            let node = loop.node
            node.read(loop) { [user, room] tables in
                if let refusal = node.refusal(user, room, tables) { return .failure(refusal) }
                node.world.oracle.read(tables, by: user, in: room)
                return .success(tables.rooms[room]!)
            } then: { (result: Result<Tables.Room, Problem>) in
                reply(result)
            }
        } then: { [self] (result: Result<Tables.Room, Problem>?) in
            switch result {
            case .success(let row): handle(.page(request: number, page(row, query)))
            case .failure(let problem): handle(.fetchFailed(request: number, failure(problem)))
            case nil: handle(.fetchFailed(request: number, failure(nil)))
            }
        }
    }

    private func page(_ row: Tables.Room, _ query: RoomTimeline.Query) -> RoomTimeline.Page {
        let (head, limit) = (row.facts.head, Int64(query.limit))
        let read = row.marks[user] ?? 0
        let texts = row.messages.map { world.text($0.body) }
        let unread = texts.filter { $0.seq > read && $0.senderID != user.string && !$0.isDeleted }
        let range: Range<Int64>
        func around(_ seq: Int64) -> Range<Int64> {
            let first = max(1, min(min(max(seq, 1), head) - limit / 2, head - limit + 1))
            return first..<min(head + 1, first + limit)
        }
        switch query.anchor {
        case .newest: range = max(1, head - limit + 1)..<head + 1
        case .aroundUnread, .aroundMention: range = around(unread.first?.seq ?? head)
        case .around(let seq): range = around(seq)
        case .before(let seq): range = max(1, min(seq, head + 1) - limit)..<max(1, min(seq, head + 1))
        case .after(let seq):
            let first = min(seq + 1, head + 1)
            range = first..<min(head + 1, first + limit)
        }
        let messages = range.isEmpty ? [] : Array(texts[Int(range.lowerBound) - 1..<Int(range.upperBound) - 1])
        return try! RoomTimeline.Page(
            messages: messages, hasBefore: range.lowerBound > 1, hasAfter: range.upperBound <= head, head: head,
            rev: row.facts.rev + (world.mutation == .pageAhead ? 1 : 0), epoch: World.epoch, read: read,
            unread: Int64(unread.count),
            firstUnread: unread.first?.seq)
    }

    private func post(_ note: Note, withID: Bool) {
        let draft = Draft(clientMessageID: withID ? note.clientMessageID : nil, content: Content(text: note.text))
        world.request { [self] loop, request, reply in
            loop.submit(.send(draft), to: room, by: user, request, then: reply)
        } then: { [self] (result: Result<Receipt, Problem>?) in
            if case .success(.message(let stored, _)) = result {
                world.oracle.acknowledged(stored, in: room, as: draft.clientMessageID, of: user)
            }
            guard withID else { return }
            switch result {
            case .success(.message(let stored, _)):
                handle(.sent(clientMessageID: note.clientMessageID, world.text(stored.body)))
            case .failure(let problem):
                handle(.sendFailed(clientMessageID: note.clientMessageID, failure(problem)))
            default: handle(.sendFailed(clientMessageID: note.clientMessageID, failure(nil)))
            }
        }
    }

    private func subscribe(since: Int64) {
        socket?.cut()
        socket = nil
        let ready = world.nodes.filter { $0.process.isAlive && $0.isReady }
        guard !ready.isEmpty else {
            return world.scheduler.after(10_000) { [self] in if socket == nil { handle(.disconnected) } }
        }
        let node = random.pick(ready)
        var isOpen = false
        var last = since
        var new: Socket!
        new = Socket(random.pick(node.loops), user, room) { [self] item in
            guard socket === new else { return }
            switch item {
            case .subscribed(let state):
                isOpen = true
                handle(.connected)
                handle(.frame(RoomTimeline.Frame(.subscribed(head: state.head), room: room.string, epoch: World.epoch)))
            case .frames(let bytes):
                for body in Frames.messages(in: bytes) where socket === new {
                    let text = world.text(body)
                    if text.rev <= last { world.oracle.fail("\(user) receives revision \(text.rev) after \(last)") }
                    last = text.rev
                    handle(.frame(RoomTimeline.Frame(.message(text), room: room.string)))
                }
            case .live(let rev): handle(.frame(RoomTimeline.Frame(.live(rev: rev), room: room.string)))
            case .ended(let problem):
                if problem.code == .cursorUnknown {
                    world.oracle.fail("\(user) has an unknown position in \(room)")
                }
            case nil:
                socket = nil
                handle(.disconnected)
            }
        }
        socket = new
        node.process.after(world.delay) { new.loop.thread.post { new.loop.open(new, since: since) } }
        // The client gives up on a node that does not answer.
        world.scheduler.after(.seconds(5)) { if !isOpen { new.cut() } }
    }

    // MARK: The end

    /// Does what a user would do who has failed sends and pages.
    func settle() {
        handle(.active(true))
        handle(.jump(to: .last))
    }

    /// Loads more of the room.
    ///
    /// - Returns: True if everything is loaded.
    func load() -> Bool {
        guard world.database.tables.admits(user, to: room) else { return true }
        let view = timeline.view
        for row in view.rows {
            if case .send(let note, .failed) = row.content, world.maySend(user, to: room) {
                handle(.retry(clientMessageID: note.clientMessageID))
            }
        }
        if view.after != .end {
            if view.after == .failed || view.after == .idle { handle(.near(.after)) }
            return false
        }
        if view.before == .idle, world.settings.windowLimit == nil { handle(.near(.before)) }
        if view.before == .failed { handle(.near(.before)) }
        return view.connection == .live && (view.before == .end || world.settings.windowLimit != nil)
            && !view.rows.contains { if case .send = $0.content { true } else { false } }
    }
}
