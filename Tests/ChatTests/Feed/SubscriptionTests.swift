import Testing
import Wire

@testable import Chat

@Suite("A subscription")
struct SubscriptionTests {
    private let room = try! RoomID("lobby")
    private let feed: Feed

    init() {
        feed = Feed(room: room, in: FeedContext(epoch: "E", feedLimit: 64))
    }

    /// The message of a revision, as it is pushed.
    private func frame(_ rev: Int64) -> [UInt8] {
        var frame: [UInt8] = []
        PushEncoding.appendFrame(Array("\(rev)".utf8).span, to: &frame)
        return frame
    }

    private func batch(_ revs: ClosedRange<Int64>) -> EncodedBatch {
        EncodedBatch(
            Batch(
                room: room, firstRev: revs.lowerBound, head: revs.upperBound,
                messages: revs.map { Array("\($0)".utf8) }))
    }

    private func slice(_ revs: ClosedRange<Int64>?, rev: Int64, hasMore: Bool = false) -> ReplaySlice {
        ReplaySlice(
            frames: revs.map { batch($0).frames } ?? [], rev: rev, hasMore: hasMore,
            state: RoomState(head: rev, rev: rev))
    }

    private func frames(_ revs: ClosedRange<Int64>) -> [UInt8] {
        revs.flatMap(frame)
    }

    @Test func `without a position gets what is published from now on`() {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 5)
        subscription.start(with: slice(nil, rev: 5), on: client)
        #expect(client.liveRev == 5)
        feed.publish(batch(6...7))
        #expect(client.bytes == frames(6...7))
        #expect(subscription.rev == 7)
    }

    @Test func `without a position begins at the room's revision, whatever its feed knows`() {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: nil)
        feed.publish(batch(4...5))
        #expect(!subscription.hasStarted)
        subscription.start(with: slice(nil, rev: 4), on: client)
        #expect(client.liveRev == 4)
        #expect(client.bytes == frames(5...5))
    }

    @Test func `tells its client why it was cancelled, once it has started`() {
        let client = Client()
        let subscriptions = (0..<2).map { _ in Subscription(feed: feed, format: .webSocket, user: nil, since: 0) }
        subscriptions[0].start(with: slice(nil, rev: 0), on: client)
        for subscription in subscriptions {
            subscription.cancel()
            subscription.tellEnd(because: .notAMember)
        }
        #expect(client.end == .notAMember)
        #expect(subscriptions.map(\.end) == [nil, .notAMember], "whoever was to start the other one tells")
        feed.publish(batch(1...1))
        #expect(client.bytes.isEmpty)
    }

    @Test func `delivers messages committed during its replay once, after the replay`() {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
        feed.publish(batch(3...4))
        #expect(client.bytes.isEmpty)
        // The replay was read between the commits of 3 and 4.
        subscription.start(with: slice(1...3, rev: 3), on: client)
        #expect(client.bytes == frames(1...4))
        #expect(client.liveRev == 3)
    }

    @Test func `does not repeat replayed messages that its feed receives later`() {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
        subscription.start(with: slice(1...6, rev: 6), on: client)
        feed.publish(batch(5...6))
        feed.publish(batch(7...7))
        #expect(client.bytes == frames(1...7))
    }

    @Test func `reads on while there is more to replay, and then sends live once`() {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
        subscription.start(with: slice(1...2, rev: 2, hasMore: true), on: client)
        #expect(client.liveRev == nil)
        #expect(client.asked == [2])
        subscription.replayed(slice(3...4, rev: 4))
        #expect(client.liveRev == 4)
        #expect(client.bytes == frames(1...4))
    }

    @Test func `sends nothing to a stalled client, which later catches up from the feed in one go`() {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
        subscription.start(with: slice(nil, rev: 0), on: client)
        client.isCongested = true
        feed.publish(batch(1...1))
        feed.publish(batch(2...3))
        #expect(client.bytes.isEmpty)
        client.isCongested = false
        subscription.advance()
        #expect(client.bytes == frames(1...3))
    }

    @Test func `that falls behind its feed reads the log and loses nothing`() {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
        subscription.start(with: slice(nil, rev: 0), on: client)
        client.isCongested = true
        for rev in 1...Int64(100) { feed.publish(batch(rev...rev)) }
        client.isCongested = false
        subscription.advance()
        #expect(client.asked == [0])
        subscription.replayed(slice(1...60, rev: 60, hasMore: true))
        #expect(client.asked == [0, 60])
        subscription.replayed(slice(61...100, rev: 100))
        feed.publish(batch(101...101))
        #expect(client.bytes == frames(1...101))
        #expect(client.liveRev == 0, "live is said once")
    }

    @Test func `reads the log at its client's pace`() {
        let client = Client()
        client.stallsAfterWrite = true
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
        subscription.start(with: slice(1...2, rev: 2, hasMore: true), on: client)
        #expect(client.asked.isEmpty)
        client.isCongested = false
        subscription.advance()
        #expect(client.asked == [2])
    }

    @Test func `sends nothing while it is held, and after the last release everything that is missing except notices`()
        throws
    {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
        subscription.start(with: slice(nil, rev: 0), on: client)
        for _ in 0..<2 { subscription.hold() }
        feed.publish(batch(1...2))
        feed.notify(EncodedNotice(.typing(room: room, user: try UserID("alice")), in: room))
        subscription.advance()
        subscription.release()
        #expect(client.bytes.isEmpty)
        subscription.release()
        #expect(client.bytes == frames(1...2))
        subscription.hold()
        for rev in 3...Int64(100) { feed.publish(batch(rev...rev)) }
        subscription.release()
        #expect(client.asked == [2], "it has fallen behind its feed")
        subscription.replayed(slice(3...100, rev: 100))
        #expect(client.bytes == frames(1...100))
    }

    @Test func `that is held during a read of the log drops the result and reads again`() {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
        subscription.hold()
        subscription.start(with: slice(1...2, rev: 2), on: client)
        #expect(client.bytes.isEmpty && client.liveRev == nil && client.asked.isEmpty)
        subscription.release()
        #expect(client.asked == [0])
        subscription.replayed(slice(1...2, rev: 2, hasMore: true))
        subscription.hold()
        subscription.release()
        #expect(client.asked == [0, 2], "it is still reading")
        subscription.replayed(slice(3...3, rev: 3))
        #expect(client.bytes == frames(1...3) && client.liveRev == 3)
    }

    @Test func `that is held before it starts still learns the room's state`() {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: nil)
        subscription.hold()
        feed.publish(batch(5...5))
        subscription.start(with: slice(nil, rev: 4), on: client)
        #expect(client.bytes.isEmpty)
        subscription.release()
        #expect(client.bytes == frames(5...5) && client.asked.isEmpty)
    }

    @Test func `that is held and then cancelled stays cancelled`() {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
        subscription.start(with: slice(nil, rev: 0), on: client)
        subscription.hold()
        subscription.cancel()
        subscription.release()
        feed.publish(batch(1...1))
        #expect(client.bytes.isEmpty)
    }

    @Test func `leaves the other subscribers unchanged when it is cancelled`() {
        let clients = (0..<3).map { _ in Client() }
        let subscriptions = clients.map { _ in Subscription(feed: feed, format: .webSocket, user: nil, since: 0) }
        for (subscription, client) in zip(subscriptions, clients) {
            subscription.start(with: slice(nil, rev: 0), on: client)
        }
        subscriptions[0].cancel()
        subscriptions[0].cancel()
        feed.publish(batch(1...1))
        #expect(clients.map(\.bytes) == [[], frames(1...1), frames(1...1)])
        #expect(!subscriptions[0].isActive)
        subscriptions[0].replayed(slice(1...1, rev: 1))
        #expect(clients[0].bytes.isEmpty)
        subscriptions[1].cancel()
        subscriptions[2].cancel()
        #expect(feed.isIdle)
    }

    @Test func `with compression gets the same messages as one without, and none after it leaves`() {
        // The commits of these two came before the feed kept compressed messages, so they are read from the log.
        feed.publish(batch(1...2))
        let (plain, deflated) = (Client(), Client())
        let subscriptions = [
            Subscription(feed: feed, format: .webSocket, user: nil, since: 2),
            Subscription(feed: feed, format: .deflatedWebSocket, user: nil, since: 1),
        ]
        for (subscription, client) in zip(subscriptions, [plain, deflated]) {
            subscription.start(with: slice(nil, rev: subscription.rev), on: client)
        }
        #expect(deflated.asked == [1])
        subscriptions[1].replayed(slice(2...2, rev: 2))
        feed.publish(batch(3...4))
        #expect(plain.bytes == frames(3...4))
        #expect(deflated.bytes == frames(2...4), "such short messages are not compressed")

        subscriptions[1].cancel()
        feed.publish(batch(5...5))
        let late = Client()
        let again = Subscription(feed: feed, format: .deflatedWebSocket, user: nil, since: 4)
        again.start(with: slice(nil, rev: 4), on: late)
        #expect(late.asked == [4], "what was published meanwhile was not kept compressed")
    }

    @Test func `of an event stream gets the same messages as events with ids`() {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .serverSentEvents, user: nil, since: 0)
        subscription.start(with: slice(nil, rev: 0), on: client)
        feed.publish(batch(1...2))
        #expect(
            String(decoding: client.bytes, as: UTF8.self)
                == "event: message\nid: E:1\ndata: {\"type\":\"message\",\"message\":1}\n\n"
                + "event: message\nid: E:2\ndata: {\"type\":\"message\",\"message\":2}\n\n")
    }

    @Test func `of an event stream leaves no events behind if it was the last one`() {
        let subscription = Subscription(feed: feed, format: .serverSentEvents, user: nil, since: 0)
        let other = Subscription(feed: feed, format: .serverSentEvents, user: nil, since: 0)
        let client = Client()
        subscription.start(with: slice(nil, rev: 0), on: client)
        other.cancel()
        feed.publish(batch(1...1))
        #expect(!client.bytes.isEmpty)
        subscription.cancel()

        // One subscriber is behind, so that the feed keeps messages, but not in this format.
        _ = Subscription(feed: feed, format: .webSocket, user: nil, since: 1)
        feed.publish(batch(2...2))
        let late = Client()
        let again = Subscription(feed: feed, format: .serverSentEvents, user: nil, since: 1)
        again.start(with: slice(nil, rev: 1), on: late)
        #expect(late.asked == [1])
    }

    @Test func `gets a notice only if it has everything and its client takes more`() throws {
        let notice = EncodedNotice(.typing(room: room, user: try UserID("alice")), in: room)
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
        feed.notify(notice)
        subscription.start(with: slice(nil, rev: 0, hasMore: true), on: client)
        feed.notify(notice)
        subscription.replayed(slice(nil, rev: 0))
        client.isCongested = true
        feed.notify(notice)
        client.isCongested = false
        subscription.advance()
        #expect(client.bytes.isEmpty)
        feed.notify(notice)
        #expect(client.bytes == notice.bytes(.webSocket))
        #expect(client.bytes.dropFirst(2) == Array(#"{"type":"typing","room":"lobby","user":"alice"}"#.utf8)[...])
        subscription.cancel()
        feed.notify(notice)
        #expect(client.bytes == notice.bytes(.webSocket))
    }

    @Test func `gets no typing notice of its own user`() throws {
        let users = try [UserID("alice"), UserID("Alice"), nil]
        let clients = users.map { _ in Client() }
        for (user, client) in zip(users, clients) {
            let subscription = Subscription(feed: feed, format: .serverSentEvents, user: user, since: 0)
            subscription.start(with: slice(nil, rev: 0), on: client)
        }
        let notice = EncodedNotice(.typing(room: room, user: try UserID("alice")), in: room)
        feed.notify(notice)
        #expect(clients.map(\.bytes) == [[], notice.bytes(.serverSentEvents), notice.bytes(.serverSentEvents)])
    }

    @Test func `gets a presence notice only if the number is new to it`() {
        let client = Client()
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
        subscription.start(with: slice(nil, rev: 0), on: client)
        subscription.toldOnline = 1
        var expected: [UInt8] = []
        for online in [1, 2, 2, 1] {
            let notice = EncodedNotice(.presence(room: room, online: online), in: room)
            if subscription.toldOnline != Int32(online) { expected += notice.bytes(.webSocket) }
            feed.notify(notice)
            #expect(client.bytes == expected)
        }
    }
}
