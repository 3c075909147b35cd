/// The latest messages of a room, encoded once in each format that its subscribers use.
struct FeedMessages {
    private static let formats = [PushFormat.webSocket, .deflatedWebSocket, .serverSentEvents]

    /// The messages by the index of their format; empty for a format without subscribers.
    private var logs: InlineArray<3, ByteLog>
    private var subscribers = InlineArray<3, Int>(repeating: 0)
    /// The revision of the last message; `nil` while unknown.
    private(set) var rev: Int64?
    private let context: FeedContext

    init(_ context: FeedContext) {
        self.context = context
        logs = InlineArray(repeating: ByteLog(limit: context.feedLimit))
    }

    /// Starts to keep messages in a format for one more subscriber.
    mutating func add(_ format: PushFormat) {
        // The log of a new format starts at the current revision, because it lacks the earlier messages.
        if subscribers[format.index] == 0 { logs[format.index] = ByteLog(limit: context.feedLimit, rev: rev) }
        subscribers[format.index] += 1
    }

    /// Records that a format has one subscriber fewer, and drops its messages after the last one.
    mutating func remove(_ format: PushFormat) {
        subscribers[format.index] -= 1
        if subscribers[format.index] == 0 { logs[format.index] = ByteLog(limit: context.feedLimit) }
    }

    /// Returns true if a batch can be appended without dropping messages, in any format.
    func hasRoom(for batch: EncodedBatch) -> Bool {
        if let rev, batch.since != rev { return false }
        return logs.indices.allSatisfy { logs[$0].hasRoom(for: batch.frames.count) || subscribers[$0] == 0 }
    }

    /// Appends the messages of a batch. Does nothing if they are already known, which happens if two threads of the log
    /// pass on their batches in the other order.
    mutating func append(_ batch: EncodedBatch) {
        if let rev, batch.rev <= rev { return }
        for format in Self.formats where subscribers[format.index] > 0 {
            let encoded = batch.encoded(as: format, in: context)
            logs[format.index].append(encoded.bytes, ends: encoded.ends, since: batch.since, revisions: batch.revisions)
        }
        rev = batch.rev
    }

    /// Returns the next step of a subscriber at `rev`, with at most about ``Subscription/writeLimit`` bytes.
    func next(after rev: Int64, in format: PushFormat) -> ByteLog.Reading {
        logs[format.index].next(after: rev, limit: Subscription.writeLimit)
    }

    /// The bytes that the ranges of readings refer to.
    func bytes(in format: PushFormat) -> [UInt8] { logs[format.index].bytes }

    /// Number of bytes in all formats.
    var count: Int { logs.indices.reduce(0) { $0 + logs[$1].bytes.count } }

    /// Drops all messages, because no subscriber lacks any.
    mutating func forgetSent() {
        for index in logs.indices { logs[index].forgetSent() }
    }
}

extension PushFormat {
    fileprivate var index: Int {
        switch self {
        case .webSocket: 0
        case .deflatedWebSocket: 1
        case .serverSentEvents: 2
        }
    }
}
