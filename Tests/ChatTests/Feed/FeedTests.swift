import TestSupport
import Testing
import Wire

@testable import Chat

@Suite("A feed of many subscribers")
struct FeedTests {
    private let room = try! RoomID("lobby")

    private func feed(limit: Int = ByteLog.defaultLimit) -> Feed {
        Feed(room: room, in: FeedContext(epoch: "E", feedLimit: limit), visits: 2)
    }

    private func batch(_ revs: ClosedRange<Int64>) -> EncodedBatch {
        EncodedBatch(
            Batch(
                room: room, firstRev: revs.lowerBound, head: revs.upperBound,
                messages: revs.map { Array("\($0)".utf8) }))
    }

    private func frames(_ revs: ClosedRange<Int64>) -> [UInt8] {
        batch(revs).frames
    }

    private func join(_ feed: Feed, at rev: Int64 = 0) -> (subscription: Subscription, client: Client) {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: rev)
        let slice = ReplaySlice(frames: [], rev: rev, hasMore: false, state: RoomState(head: rev, rev: rev))
        subscription.start(with: slice, on: client)
        return (subscription, client)
    }

    @Test func `fits two cursors in a cache line`() {
        #expect(MemoryLayout<Cursor>.stride == 32)
    }

    @Test func `visits its subscribers some at a time`() {
        let feed = feed()
        let clients = (0..<5).map { _ in join(feed).client }
        var done = feed.publish(batch(1...1))
        for count in [2, 4] {
            #expect(!done)
            #expect(clients.map { $0.bytes == frames(1...1) } == (0..<5).map { $0 < count }, "who came first is first")
            done = feed.advance()
        }
        #expect(done)
        #expect(clients.allSatisfy { $0.bytes == frames(1...1) })
    }

    @Test func `sends nothing while revoked access is not known, and everything afterwards`() {
        let term = AccessTerm()
        let context = FeedContext(epoch: "E", term: term)
        let feed = Feed(room: room, in: context)
        let clients = (0..<3).map { _ in join(feed).client }
        #expect(!feed.publish(batch(1...1)))
        #expect(!feed.publish(batch(2...2)))
        #expect(!feed.advance())
        #expect(clients.allSatisfy { $0.bytes.isEmpty })
        #expect(context.hasWaiting)
        term.extend(to: .now + .seconds(3600))
        let waiting = context.takeWaiting()
        #expect(waiting.count == 1 && !context.hasWaiting)
        for feed in waiting where !feed.resume() { while !feed.advance() {} }
        #expect(clients.allSatisfy { $0.bytes == frames(1...2) })
    }

    @Test func `stops within a round when revoked access is not known any more, and goes on afterwards`() {
        let clock = ManualClock()
        let term = AccessTerm { clock.now }
        term.extend(to: clock.now + .seconds(1))
        let context = FeedContext(epoch: "E", term: term)
        let feed = Feed(room: room, in: context)
        let clients = (0..<3).map { _ in join(feed).client }
        clients[0].onWrite = { clock.advance(by: .seconds(1)) }
        #expect(!feed.publish(batch(1...1)))
        #expect(clients.map(\.bytes) == [frames(1...1), [], []])
        term.extend(to: clock.now + .seconds(3600))
        for feed in context.takeWaiting() where !feed.resume() { while !feed.advance() {} }
        #expect(clients.allSatisfy { $0.bytes == frames(1...1) })
    }

    @Test func `sends nothing while the loop has not handled an end of access that was announced`() {
        let ends = AccessEnds()
        let context = FeedContext(epoch: "E", ends: ends)
        let feed = Feed(room: room, in: context)
        let clients = (0..<3).map { _ in join(feed).client }
        clients[0].onWrite = { if clients[0].writes == 1 { ends.announce() } }
        #expect(!feed.publish(batch(1...1)))
        #expect(clients.map(\.bytes) == [frames(1...1), [], []] && context.hasWaiting)
        context.handledEnd()
        for feed in context.takeWaiting() where !feed.resume() { while !feed.advance() {} }
        #expect(clients.allSatisfy { $0.bytes == frames(1...1) })
    }

    @Test func `gives a subscriber that catches up nothing that was read before revoked access was known`() {
        let term = AccessTerm()
        let feed = Feed(room: room, in: FeedContext(epoch: "E", term: term))
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
        let slice = ReplaySlice(frames: frames(1...2), rev: 2, hasMore: false, state: RoomState(head: 2, rev: 2))
        subscription.start(with: slice, on: client)
        #expect(client.bytes.isEmpty && client.liveRev == nil && client.asked == [0])
        term.extend(to: .now + .seconds(3600))
        subscription.replayed(slice)
        #expect(client.bytes == frames(1...2) && client.liveRev == 2)
    }

    @Test func `drops notices while revoked access is not known`() {
        let feed = Feed(room: room, in: FeedContext(epoch: "E", term: AccessTerm()))
        let client = join(feed).client
        #expect(feed.notify(EncodedNotice(.typing(room: room, user: try! UserID("bob")), in: room)))
        #expect(client.bytes.isEmpty)
    }

    @Test func `keeps nothing for slow subscribers when the loop's feeds together keep too much`() {
        let context = FeedContext(epoch: "E", memoryLimit: 2 * frames(1...1).count)
        let feeds = (0..<3).map { _ in Feed(room: room, in: context) }
        let slow = feeds.map { feed in
            let joined = join(feed)
            joined.client.isCongested = true
            return joined
        }
        for feed in feeds { feed.publish(batch(1...1)) }
        #expect(context.keptBytes == 2 * frames(1...1).count)
        for (_, client) in slow { client.isCongested = false }
        for (subscription, _) in slow { subscription.advance() }
        #expect(slow.map { $0.client.bytes == frames(1...1) } == [true, true, false])
        // The third one reads the store.
        #expect(slow.map(\.client.asked) == [[], [], [0]])
        #expect(context.keptBytes == 0)
    }

    @Test func `sends what is published meanwhile in one write, or in the next round if visited`() {
        let feed = feed()
        let clients = (0..<4).map { _ in join(feed).client }
        #expect(!feed.publish(batch(1...1)))
        #expect(!feed.publish(batch(2...3)))
        #expect(!feed.advance())
        #expect(clients.map(\.writes) == [1, 1, 1, 1])
        #expect(clients.map(\.bytes) == [frames(1...1), frames(1...1), frames(1...3), frames(1...3)])
        while !feed.advance() {}
        #expect(clients.allSatisfy { $0.bytes == frames(1...3) })
        #expect(clients.map(\.writes) == [2, 2, 1, 1])
    }

    @Test func `finishes its round before it drops messages that a current subscriber lacks`() {
        let feed = feed(limit: 64)
        let clients = (0..<5).map { _ in join(feed).client }
        for rev in 1...Int64(50) { feed.publish(batch(rev...rev)) }
        while !feed.advance() {}
        #expect(clients.allSatisfy { $0.bytes == frames(1...50) && $0.asked.isEmpty })
    }

    @Test func `writes what was published during a round at once to those not visited yet`() {
        let feed = feed()
        let clients = (0..<8).map { _ in join(feed).client }
        feed.publish(batch(1...1))
        for _ in 0..<2 { #expect(!feed.advance()) }
        #expect(!feed.publish(batch(2...2)))
        #expect(clients.map(\.writes) == [1, 1, 1, 1, 1, 1, 0, 0])
        while !feed.advance() {}
        #expect(clients.allSatisfy { $0.bytes == frames(1...2) })
        #expect(clients.map(\.writes) == [2, 2, 2, 2, 2, 2, 1, 1])
    }

    @Test(arguments: 0..<40)
    func `misses no subscriber while others come and go`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let feed = feed()
        var rev: Int64 = 0
        var members: [(subscription: Subscription, client: Client, from: Int64)] = []
        var isDone = true
        for _ in 0..<400 {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1:
                let (subscription, client) = join(feed, at: rev)
                members.append((subscription, client, rev))
            case 2:
                guard let index = members.indices.randomElement(using: &generator) else { continue }
                members.remove(at: index).subscription.cancel()
            case 3:
                rev += 1
                isDone = feed.publish(batch(rev...rev))
            default:
                isDone = feed.advance()
            }
        }
        while !isDone { isDone = feed.advance() }
        for member in members {
            #expect(member.subscription.rev == rev)
            #expect(member.client.bytes == (member.from < rev ? frames(member.from + 1...rev) : []))
            #expect(member.client.asked.isEmpty)
        }
    }

    /// Returns true if the feed still has the message after `rev`, so that a subscriber there does not read the log.
    private func keeps(_ feed: Feed, after rev: Int64) -> Bool {
        let (subscription, client) = join(feed, at: rev)
        defer { subscription.cancel() }
        return client.asked.isEmpty
    }

    @Test(
        arguments: [true, false],
        0..<3)
    func `keeps messages until the last subscriber that lacks them has them or has left`(leaves: Bool, first: Int) {
        let feed = feed()
        let members = (0..<7).map { _ in join(feed) }
        let slow = [1, 3, 6]
        for place in slow { members[place].client.isCongested = true }
        feed.publish(batch(1...1))
        while !feed.advance() {}
        for turn in 0..<3 {
            let member = members[slow[(first + turn) % 3]]
            #expect(keeps(feed, after: 0))
            if leaves {
                member.subscription.cancel()
            } else {
                member.client.isCongested = false
                member.subscription.advance()
                #expect(member.client.bytes == frames(1...1))
            }
        }
        #expect(!keeps(feed, after: 0))
        feed.publish(batch(2...2))
        while !feed.advance() {}
        for (place, member) in members.enumerated() where !leaves || !slow.contains(place) {
            #expect(member.client.bytes == frames(1...2) && member.client.asked.isEmpty)
        }
    }

    @Test func `also drops messages when slow subscribers catch up while others are visited`() {
        let feed = feed()
        let members = (0..<6).map { _ in join(feed) }
        members[1].client.isCongested = true
        #expect(!feed.publish(batch(1...1)))
        members[1].client.isCongested = false
        members[1].subscription.advance()
        #expect(!feed.advance())
        #expect(feed.advance())
        #expect(!keeps(feed, after: 0))
    }

    @Test func `delivers notices after messages, and drops notices while too many wait`() throws {
        let feed = feed()
        let clients = (0..<4).map { _ in join(feed).client }
        feed.publish(batch(1...1))
        let users = try (0..<Feed.waitingNotices + 3).map { try UserID("u\($0)") }
        let notices = users.map { EncodedNotice(.typing(room: room, user: $0), in: room) }
        for notice in notices { #expect(!feed.notify(notice)) }
        while !feed.advance() {}
        let expected = frames(1...1) + notices.prefix(Feed.waitingNotices).flatMap { $0.bytes(.webSocket) }
        #expect(clients.allSatisfy { $0.bytes == expected })
        feed.notify(notices[0])
        while !feed.advance() {}
        #expect(clients.allSatisfy { $0.bytes == expected + notices[0].bytes(.webSocket) })
    }
}
