import TestSupport
import Testing
import Wire

@testable import Chat

@Suite("Direct pushes")
struct DirectPushTests {
    private let room = try! RoomID("lobby")
    private let outlets = ClientOutlets()

    private func feed(limit: Int = ByteLog.defaultLimit) -> Feed {
        Feed(
            room: room, in: FeedContext(epoch: "E", outlets: outlets, feedLimit: limit), visits: 3)
    }

    private func batch(_ revs: ClosedRange<Int64>) -> EncodedBatch {
        let messages = revs.map { Array("\($0)".utf8) }
        return EncodedBatch(
            Batch(room: room, firstRev: revs.lowerBound, head: revs.upperBound, messages: messages))
    }

    private func join(
        _ feed: Feed, at rev: Int64 = 0, format: PushFormat = .webSocket, isDirect: Bool = true
    ) -> (subscription: Subscription, client: Client) {
        let client = Client()
        if isDirect { outlets.open(client) }
        let subscription = Subscription(feed: feed, format: format, user: nil, since: rev)
        start(subscription, at: rev, on: client)
        return (subscription, client)
    }

    private func start(_ subscription: Subscription, at rev: Int64, hasMore: Bool = false, on client: Client) {
        let state = RoomState(head: rev, rev: rev)
        subscription.start(with: ReplaySlice(frames: [], rev: rev, hasMore: hasMore, state: state), on: client)
    }

    @Test func `reach subscribers that have an outlet, in each one's format`() {
        let feed = feed()
        let formats = [PushFormat.webSocket, .deflatedWebSocket, .serverSentEvents]
        let direct = formats.map { join(feed, format: $0).client }
        let others = formats.map { join(feed, format: $0, isDirect: false).client }
        feed.publish(batch(1...1))
        while !feed.advance() {}
        #expect(zip(direct, others).allSatisfy { $0.bytes == $1.bytes && !$0.bytes.isEmpty })
        #expect(direct.map(\.directWrites) == [1, 1, 1])
        #expect(others.map(\.directWrites) == [0, 0, 0])
    }

    @Test func `begin once the client was told that it has caught up`() {
        let feed = feed()
        let client = Client()
        outlets.open(client)
        let subscription = Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
        feed.publish(batch(1...1))
        #expect(client.bytes.isEmpty, "nothing has been read yet")
        start(subscription, at: 0, hasMore: true, on: client)
        #expect(client.asked == [0])
        feed.publish(batch(2...2))
        #expect(client.bytes.isEmpty, "the log is being read")
        subscription.replayed(ReplaySlice(frames: [7], rev: 1, hasMore: false, state: RoomState(head: 2, rev: 2)))
        #expect(client.liveRev == 1)
        #expect(client.bytes == [7] + batch(2...2).frames)
        #expect(client.directWrites == 1, "the slice and the notice went through the carrier")
        feed.publish(batch(3...3))
        #expect(client.directWrites == 2)
        #expect(client.bytes == [7] + batch(2...3).frames)
    }

    @Test func `wait for a congested client, and continue when it drains`() {
        let feed = feed()
        let (subscription, client) = join(feed)
        client.isCongested = true
        for rev in 1...Int64(3) { feed.publish(batch(rev...rev)) }
        #expect(client.bytes.isEmpty)
        client.isCongested = false
        subscription.advance()
        #expect(client.bytes == batch(1...3).frames && client.directWrites == 1)
        feed.publish(batch(4...4))
        #expect(client.bytes == batch(1...4).frames && client.directWrites == 2)
    }

    @Test func `leave more than one write to the carrier`() {
        let feed = feed(limit: 10 * Subscription.writeLimit)
        let (_, client) = join(feed)
        let long = EncodedBatch(
            Batch(
                room: room, firstRev: 1, head: 3,
                messages: (0..<3).map { [UInt8](repeating: 48 + $0, count: Subscription.writeLimit * 2 / 3) }))
        feed.publish(long)
        #expect(client.bytes == long.frames)
        #expect(client.writes == 3 && client.directWrites == 0)
    }

    @Test(arguments: 0..<30)
    func `miss no subscriber while others come, stall and go`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let feed = feed()
        var rev: Int64 = 0
        var members: [(subscription: Subscription, client: Client, from: Int64)] = []
        var isDone = true
        for _ in 0..<600 {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0, 1:
                let (subscription, client) = join(feed, at: rev, isDirect: .random(using: &generator))
                client.stallsAfterWrite = Int.random(in: 0..<4, using: &generator) == 0
                members.append((subscription, client, rev))
            case 2:
                guard let index = members.indices.randomElement(using: &generator) else { continue }
                let (subscription, client, _) = members.remove(at: index)
                subscription.cancel()
                outlets.close(client)
            case 3:
                guard let member = members.randomElement(using: &generator) else { continue }
                member.client.isCongested = false
                member.subscription.advance()
            case 4:
                rev += 1
                isDone = feed.publish(batch(rev...rev))
            default:
                isDone = feed.advance()
            }
        }
        while !isDone { isDone = feed.advance() }
        for member in members {
            member.client.stallsAfterWrite = false
            member.client.isCongested = false
            member.subscription.advance()
            #expect(member.subscription.rev == rev)
            #expect(member.client.bytes == (member.from < rev ? batch(member.from + 1...rev).frames : []))
            #expect(member.client.asked.isEmpty)
        }
    }
}

/// The outlets of clients, numbered by their indices.
private final class ClientOutlets: Outlets {
    private var clients: [Client] = []

    func open(_ client: Client) {
        client.outlet = UInt64(clients.count)
        clients.append(client)
    }

    /// Closes a client's outlet, so that nothing more is written to it.
    func close(_ client: Client) {
        client.isGone = true
    }

    func push(_ frames: Span<UInt8>, to outlet: UInt64) -> Bool {
        let client = clients[Int(outlet)]
        #expect(!client.isGone)
        guard !client.isCongested else { return false }
        client.send(frames)
        client.directWrites += 1
        return true
    }
}
