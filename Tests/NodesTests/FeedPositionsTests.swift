import Chat
import TestSupport
import Testing
import Wire

@testable import Nodes

@Suite("The positions of feeds")
struct FeedPositionsTests {
    private let room = try! RoomID("lobby")

    private func state(_ rev: Int64) -> RoomState { RoomState(head: rev, rev: rev) }

    private func batch(_ revs: ClosedRange<Int64>) -> Batch {
        Batch(
            room: room, firstRev: revs.lowerBound, head: revs.upperBound, messages: revs.map { Array("\($0)".utf8) })
    }

    private func answer(_ revs: ClosedRange<Int64>, hasMore: Bool = false) -> FeedPositions.Answer {
        FeedPositions.Answer(batch: batch(revs), hasMore: hasMore)
    }

    /// The positions, which expectations cannot change in place.
    private final class Positions {
        private var value = FeedPositions()

        var hasDue: Bool { value.hasDue }
        var count: Int { value.count }

        func replayed(_ room: RoomID, to state: RoomState) -> Batch? { value.replayed(room, to: state) }

        func committed(_ batch: Batch) -> Bool { value.committed(batch) }

        func hinted(_ room: RoomID, at rev: Int64, hasSubscribers: (RoomID) -> Bool) {
            value.hinted(room, at: rev, hasSubscribers: hasSubscribers)
        }

        func lookAtAll() { value.lookAtAll() }

        func sweep(hasSubscribers: (RoomID) -> Bool) -> [FeedPositions.Look] {
            value.sweep(hasSubscribers: hasSubscribers)
        }

        func takeLooks(_ limit: Int = 10, hasSubscribers: (RoomID) -> Bool = { _ in true }) -> [FeedPositions.Look] {
            value.takeLooks(limit, hasSubscribers: hasSubscribers)
        }

        func looked(_ look: FeedPositions.Look, _ answer: FeedPositions.Answer?) -> Batch? {
            value.looked(look, answer)
        }

        func failed(_ look: FeedPositions.Look) { value.failed(look) }
    }

    @Test func `publish a commit of this node that continues them, and request a look for one that is ahead`() {
        let positions = Positions()
        #expect(positions.replayed(room, to: state(5)) == nil)
        #expect(positions.committed(batch(6...7)))
        #expect(!positions.committed(batch(6...7)))
        #expect(!positions.hasDue)
        #expect(!positions.committed(batch(9...9)))
        #expect(positions.takeLooks() == [FeedPositions.Look(room: room, since: state(7))])
    }

    @Test func `ignore hints about known revisions, and about rooms without subscribers`() throws {
        let positions = Positions()
        _ = positions.replayed(room, to: state(5))
        positions.hinted(room, at: 5) { _ in true }
        positions.hinted(try RoomID("empty"), at: 9) { _ in false }
        #expect(!positions.hasDue && positions.count == 1)
        positions.hinted(room, at: 6) { _ in true }
        positions.hinted(room, at: 7) { _ in true }
        #expect(positions.takeLooks().count == 1)
    }

    @Test func `look again after a hint that came during a look, and after an incomplete answer`() {
        let positions = Positions()
        _ = positions.replayed(room, to: state(5))
        positions.hinted(room, at: 6) { _ in true }
        let first = positions.takeLooks()[0]
        positions.hinted(room, at: 8) { _ in true }
        #expect(!positions.hasDue)
        #expect(positions.looked(first, answer(6...7))?.rev == 7)
        let second = positions.takeLooks()[0]
        #expect(second.since == state(7))
        #expect(positions.looked(second, answer(8...9, hasMore: true))?.rev == 9)
        let third = positions.takeLooks()[0]
        #expect(positions.looked(third, nil) == nil)
        #expect(!positions.hasDue)
    }

    @Test func `do not publish an answer that this node's commits have overtaken`() {
        let positions = Positions()
        _ = positions.replayed(room, to: state(5))
        positions.hinted(room, at: 6) { _ in true }
        let look = positions.takeLooks()[0]
        #expect(positions.committed(batch(6...8)))
        #expect(positions.looked(look, answer(6...7)) == nil)
        #expect(!positions.hasDue)
    }

    @Test func `keep a hint that comes while a subscription's first slice is being read`() {
        let positions = Positions()
        positions.hinted(room, at: 6) { _ in true }
        #expect(!positions.hasDue)
        _ = positions.replayed(room, to: state(5))
        #expect(positions.takeLooks().map(\.since) == [state(5)])
    }

    @Test func `tell the feeds where they are when another loop's slice is older than the first one`() throws {
        let positions = Positions()
        _ = positions.replayed(room, to: state(7))
        let marker = try #require(positions.replayed(room, to: state(5)))
        #expect(marker.since == 7 && marker.rev == 7 && marker.messages.isEmpty)
        #expect(positions.replayed(room, to: state(6)) == nil)
    }

    @Test func `forget rooms whose subscribers have left, at a sweep and at a look`() {
        let positions = Positions()
        _ = positions.replayed(room, to: state(5))
        #expect(positions.sweep(hasSubscribers: { _ in true }) == [FeedPositions.Look(room: room, since: state(5))])
        positions.hinted(room, at: 6) { _ in true }
        #expect(positions.takeLooks(hasSubscribers: { _ in false }).isEmpty)
        #expect(positions.count == 0)
        _ = positions.replayed(room, to: state(6))
        #expect(positions.sweep(hasSubscribers: { _ in false }).isEmpty)
        #expect(positions.count == 0)
    }

    @Test func `wait for another look after one that failed, and after lost hints`() {
        let positions = Positions()
        _ = positions.replayed(room, to: state(5))
        positions.lookAtAll()
        let look = positions.takeLooks()[0]
        #expect(!positions.hasDue)
        positions.failed(look)
        #expect(positions.takeLooks() == [look])
    }

    @Test(arguments: UInt64(0)..<300)
    func `lose, repeat and reorder nothing, whatever arrives late`(seed: UInt64) throws {
        // Without lost hints nothing may need a sweep.
        let model = try FeedModel(seed: seed, losesHints: seed % 3 == 0)
        for _ in 0..<400 { model.step() }
        model.settle()
        model.check()
    }
}

/// A node with several loops, another node, and their database. Everything that threads do at some time happens here at a
/// random time.
private final class FeedModel {
    private struct Room {
        let id: RoomID
        /// The latest revision of each message, and its first one.
        var messages: [(rev: Int64, sent: Int64)] = []
        var rev: Int64 = 0

        var state: RoomState { RoomState(head: Int64(messages.count), rev: rev) }

        static func body(_ seq: Int64, _ rev: Int64) -> [UInt8] { Array("[\(seq):\(rev)]".utf8) }

        /// Sends or changes messages, and returns the commit's batch.
        mutating func commit(_ generator: inout SeededGenerator) -> Batch {
            let first = rev + 1
            var bodies: [[UInt8]] = []
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                rev += 1
                if messages.isEmpty || Bool.random(using: &generator) {
                    messages.append((rev, rev))
                    bodies.append(Self.body(Int64(messages.count), rev))
                } else {
                    let index = Int.random(in: 0..<messages.count, using: &generator)
                    messages[index].rev = rev
                    bodies.append(Self.body(Int64(index) + 1, rev))
                }
            }
            return Batch(room: id, firstRev: first, head: state.head, messages: bodies)
        }

        /// The messages that changed after `since`, oldest change first, as the look's statement finds them.
        func changes(since: RoomState) -> [(seq: Int64, rev: Int64)] {
            messages.enumerated().compactMap { index, message in
                let seq = Int64(index) + 1
                let isChanged = message.rev > message.sent
                guard isChanged ? message.rev > since.rev : seq > since.head else { return nil }
                return (seq, message.rev)
            }.sorted { $0.rev < $1.rev }
        }
    }

    private final class Reader: SubscriptionCarrier {
        unowned let model: FeedModel
        let loop: Int
        var subscription: Subscription!
        /// The revision up to which it had everything; `nil` until the first slice says so.
        var start: Int64?
        var bytes: [UInt8] = []
        var isCongested = false
        var isLive = false
        var isCancelled = false

        init(_ model: FeedModel, loop: Int, since: Int64?) {
            self.model = model
            self.loop = loop
            start = since
        }

        func send(_ frames: Span<UInt8>) {
            for index in frames.indices { bytes.append(frames[index]) }
        }

        func sendLive(_ subscription: Subscription) { isLive = true }

        func replay(_ subscription: Subscription, since rev: Int64) { model.ask(self, since: rev) }

        func ended(_ subscription: Subscription, because problem: Problem) {}
    }

    private var generator: SeededGenerator
    private let losesHints: Bool
    private var rooms: [Room]
    private var positions = FeedPositions()
    private let subscribedLoops = SubscribedLoops()
    private var feeds: [[RoomID: Feed]]
    private let context = FeedContext(epoch: "E", feedLimit: 200)
    /// What is posted to each loop, in order.
    private var posts: [[() -> Void]]
    /// What other threads are about to do, in any order.
    private var pending: [() -> Void] = []
    private var readers: [Reader] = []

    init(seed: UInt64, losesHints: Bool) throws {
        generator = SeededGenerator(seed: seed)
        self.losesHints = losesHints
        rooms = try ["a", "b"].map { Room(id: try RoomID($0)) }
        feeds = Array(repeating: [:], count: 3)
        posts = Array(repeating: [], count: 3)
    }

    private func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    // MARK: What happens

    func step() {
        switch random(20) {
        case 0: commitElsewhere(random(rooms.count))
        case 1: commitHere(random(rooms.count))
        case 2: subscribe(random(rooms.count), loop: random(posts.count))
        case 3: if !readers.isEmpty, random(2) == 0 { cancel(readers[random(readers.count)]) }
        case 4: if !readers.isEmpty { readers[random(readers.count)].isCongested = true }
        case 5: if !readers.isEmpty { drain(readers[random(readers.count)]) }
        case 6: if losesHints { sweep() }
        case 7, 8: look()
        case 9...13: runPending()
        default: runPost()
        }
    }

    private func runPending() {
        if !pending.isEmpty { pending.remove(at: random(pending.count))() }
    }

    private func runPost() {
        let loop = random(posts.count)
        if !posts[loop].isEmpty { posts[loop].removeFirst()() }
    }

    /// Lets everything happen that is about to.
    func settle() {
        for reader in readers { drain(reader) }
        if losesHints { sweep() }
        while !pending.isEmpty || posts.contains(where: { !$0.isEmpty }) || positions.hasDue {
            runPending()
            runPost()
            look()
        }
    }

    private func commitElsewhere(_ index: Int) {
        let id = rooms[index].id
        let rev = rooms[index].commit(&generator).rev
        if losesHints, random(2) == 0 { return }
        for _ in 0...random(2) {
            pending.append { [self] in positions.hinted(id, at: rev, hasSubscribers: subscribedLoops.hasSubscribers) }
        }
    }

    private func commitHere(_ index: Int) {
        let batch = rooms[index].commit(&generator)
        pending.append { [self] in if positions.committed(batch) { publish(batch) } }
    }

    /// Passes a batch to the loops, later.
    private func publish(_ batch: Batch) {
        pending.append { [self] in
            for (loop, batches) in subscribedLoops.distribute([batch], loops: posts.count).enumerated() {
                for batch in batches {
                    posts[loop].append { [self] in
                        guard let feed = feeds[loop][batch.room] else { return }
                        if !feed.publish(batch) { while !feed.advance() {} }
                    }
                }
            }
        }
    }

    private func look() {
        for look in positions.takeLooks(1 + random(2), hasSubscribers: subscribedLoops.hasSubscribers) {
            if random(8) == 0 {
                pending.append { [self] in positions.failed(look) }
                continue
            }
            pending.append { [self] in
                let room = rooms.first { $0.id == look.room }!
                let changes = room.changes(since: look.since)
                let limit = 1 + random(6)
                let taken = changes.prefix(limit)
                var answer: FeedPositions.Answer?
                if let last = taken.last {
                    let hasMore = changes.count > limit
                    let head = hasMore ? max(look.since.head, taken.map(\.seq).max()!) : room.state.head
                    let batch = Batch(
                        room: room.id, since: look.since.rev, revs: taken.map(\.rev),
                        rev: hasMore ? last.rev : room.rev, head: head,
                        messages: taken.map { Room.body($0.seq, $0.rev) })
                    answer = FeedPositions.Answer(batch: batch, hasMore: hasMore)
                }
                pending.append { [self] in if let batch = positions.looked(look, answer) { publish(batch) } }
            }
        }
    }

    private func sweep() {
        for look in positions.sweep(hasSubscribers: subscribedLoops.hasSubscribers) {
            pending.append { [self] in
                let rev = rooms.first { $0.id == look.room }!.rev
                guard rev > look.since.rev else { return }
                pending.append { [self] in
                    positions.hinted(look.room, at: rev, hasSubscribers: subscribedLoops.hasSubscribers)
                }
            }
        }
    }

    // MARK: Subscribers

    private func subscribe(_ index: Int, loop: Int) {
        let id = rooms[index].id
        if feeds[loop][id] == nil {
            subscribedLoops.add(id, loop: loop)
            feeds[loop][id] = Feed(room: id, in: context, visits: 2)
        }
        let since = random(2) == 0 ? nil : Int64.random(in: 0...rooms[index].rev, using: &generator)
        let reader = Reader(self, loop: loop, since: since)
        reader.subscription = Subscription(feed: feeds[loop][id]!, format: .webSocket, user: nil, since: since)
        readers.append(reader)
        ask(reader, since: since)
    }

    /// Reads a slice for a reader at some later time.
    private func ask(_ reader: Reader, since rev: Int64?) {
        let id = reader.subscription.feed.room
        pending.append { [self] in
            let room = rooms.first { $0.id == id }!
            let since = rev ?? room.rev
            let all = room.messages.enumerated().filter { $0.element.rev > since }
                .map { (seq: Int64($0.offset) + 1, rev: $0.element.rev) }.sorted { $0.rev < $1.rev }
            let taken = all.prefix(1 + random(6))
            var frames: [UInt8] = []
            for message in taken { PushEncoding.appendFrame(Room.body(message.seq, message.rev).span, to: &frames) }
            let end = taken.last?.rev ?? since
            let slice = ReplaySlice(frames: frames, rev: end, hasMore: end < room.rev, state: room.state)
            pending.append { [self] in
                if !slice.hasMore, let batch = positions.replayed(id, to: slice.state) { publish(batch) }
                posts[reader.loop].append { deliver(slice, to: reader) }
            }
        }

        func deliver(_ slice: ReplaySlice, to reader: Reader) {
            guard reader.subscription.isActive else { return }
            if reader.start == nil { reader.start = slice.rev }
            if reader.subscription.hasStarted {
                reader.subscription.replayed(slice)
            } else {
                reader.subscription.start(with: slice, on: reader)
            }
        }
    }

    private func drain(_ reader: Reader) {
        reader.isCongested = false
        if reader.subscription.hasStarted { reader.subscription.advance() }
    }

    private func cancel(_ reader: Reader) {
        readers.removeAll { $0 === reader }
        let feed = reader.subscription.feed
        reader.subscription.cancel()
        guard feed.isIdle else { return }
        feeds[reader.loop][feed.room] = nil
        subscribedLoops.remove(feed.room, loop: reader.loop)
    }

    // MARK: What must be true

    func check() {
        for reader in readers {
            let room = rooms.first { $0.id == reader.subscription.feed.room }!
            let start = reader.start ?? -1
            let received = Self.messages(in: reader.bytes)
            #expect(reader.isLive && reader.subscription.rev == room.rev)
            var last = start
            for message in received {
                #expect(message.rev > last, "in order, and once")
                last = message.rev
            }
            let latest = Dictionary(received.map { ($0.seq, $0.rev) }) { $1 }
            for (index, message) in room.messages.enumerated() where message.rev > start {
                #expect(latest[Int64(index) + 1] == message.rev, "its latest revision")
            }
        }
    }

    /// The messages in frames, which are the only ones with brackets.
    private static func messages(in bytes: [UInt8]) -> [(seq: Int64, rev: Int64)] {
        bytes.split(separator: UInt8(ascii: "[")).dropFirst().map { part in
            let numbers = String(decoding: part.prefix { $0 != UInt8(ascii: "]") }, as: UTF8.self).split(separator: ":")
            return (Int64(numbers[0])!, Int64(numbers[1])!)
        }
    }
}
