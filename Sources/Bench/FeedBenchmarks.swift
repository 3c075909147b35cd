import Chat
import Wire

/// Benchmarks of a room's feed: the cost of a commit per subscriber, without the system call.
enum FeedBenchmarks {
    static func all() throws -> [Benchmark] {
        try [1, 8].map { messages in
            Benchmark(
                "feed publish \(messages) to 1000 subscribers", per: "delivery", times: messages * 1000,
                try publishing(messages))
        } + [encoding()]
    }

    private static func publishing(_ messages: Int) throws -> (Int) throws -> Void {
        let snapshots = try Samples.batch(1...Int64(messages)).messages
        return { calls in
            let sink = Sink()
            let feed = Feed(room: Samples.room, in: FeedContext(epoch: "E", outlets: sink))
            let subscriptions = (0..<1000).map { _ in
                Subscription(feed: feed, format: .webSocket, user: nil, since: 0)
            }
            let level = ReplaySlice(frames: [], rev: 0, hasMore: false, state: RoomState())
            for subscription in subscriptions { subscription.start(with: level, on: sink) }
            var rev: Int64 = 0
            for _ in 0..<calls {
                let batch = Batch(
                    room: Samples.room, firstRev: rev + 1, head: rev + Int64(messages), messages: snapshots)
                if !feed.publish(EncodedBatch(batch)) { while !feed.advance() {} }
                rev += Int64(messages)
            }
            guard subscriptions.allSatisfy({ $0.rev == rev }) else { throw BenchError.wrongResult }
        }
    }

    private static func encoding() throws -> Benchmark {
        let batch = try Samples.batch(1...32)
        return Benchmark("feed encode a batch of 32", per: "message", times: 32) { calls in
            for _ in 0..<calls { keep(EncodedBatch(batch)) }
        }
    }
}

/// A client that accepts everything at once.
private final class Sink: SubscriptionCarrier, Outlets {
    private var bytes = 0

    var outlet: UInt64? { 0 }

    var isCongested: Bool { false }

    func send(_ frames: Span<UInt8>) {
        bytes += frames.count
    }

    func push(_ frames: Span<UInt8>, to outlet: UInt64) -> Bool {
        bytes += frames.count
        return true
    }

    func sendLive(_ subscription: Subscription) {}

    func ended(_ subscription: Subscription, because problem: Problem) {}

    func replay(_ subscription: Subscription, since rev: Int64) {
        preconditionFailure("no subscriber is behind")
    }
}
