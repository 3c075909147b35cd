import Synchronization
public import Wire

/// A batch, encoded once for every subscriber on every loop.
///
/// A class, so that passing it to a loop costs one reference count instead of one for each of its arrays.
public final class EncodedBatch: Sendable {
    /// The room.
    public let room: RoomID
    /// The revision before the batch.
    public let since: Int64
    /// The revision up to which a subscriber has everything after the batch.
    public let rev: Int64
    /// The messages' revisions; `nil` if they are consecutive, starting after ``since``.
    let revisions: Batch.Revisions?
    /// The messages as ``PushFormat/webSocket``, concatenated.
    public let frames: [UInt8]
    /// The end offset of each message's frame in `frames`.
    public let ends: [Int]
    /// The snapshots, for other formats.
    let messages: [[UInt8]]
    /// The messages as ``PushFormat/deflatedWebSocket``; `nil` until a loop needs them.
    private let deflated = Mutex<(bytes: [UInt8], ends: [Int])?>(nil)

    /// Encodes a batch.
    public init(_ batch: Batch) {
        room = batch.room
        since = batch.since
        rev = batch.rev
        revisions = batch.revisions
        messages = batch.messages
        var frames: [UInt8] = []
        frames.reserveCapacity(messages.reduce(0) { $0 + $1.count + PushEncoding.frameOverhead })
        var ends: [Int] = []
        ends.reserveCapacity(messages.count)
        for message in messages {
            PushEncoding.appendFrame(message.span, to: &frames)
            ends.append(frames.count)
        }
        self.frames = frames
        self.ends = ends
    }

    /// Returns the messages in a format, with the end offset of each.
    func encoded(as format: PushFormat, in context: FeedContext) -> (bytes: [UInt8], ends: [Int]) {
        switch format {
        case .webSocket: (frames, ends)
        case .deflatedWebSocket: deflated(by: context.deflater)
        case .serverSentEvents: events(epoch: context.epoch)
        }
    }

    /// Returns the messages as ``PushFormat/deflatedWebSocket``. The first loop that needs them compresses them, and
    /// other loops wait for it.
    func deflated(by deflater: PushDeflater) -> (bytes: [UInt8], ends: [Int]) {
        deflated.withLock { encoded in
            if let encoded { return encoded }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(frames.count)
            var ends: [Int] = []
            ends.reserveCapacity(messages.count)
            for message in messages {
                deflater.appendFrame(message.span, to: &bytes)
                ends.append(bytes.count)
            }
            encoded = (bytes, ends)
            return (bytes, ends)
        }
    }

    /// Returns the messages as ``PushFormat/serverSentEvents``.
    func events(epoch: String) -> (bytes: [UInt8], ends: [Int]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frames.count + ends.count * 64)
        var ends: [Int] = []
        ends.reserveCapacity(messages.count)
        for (index, message) in messages.enumerated() {
            let rev = revisions?.revs[index] ?? since + Int64(index) + 1
            PushEncoding.appendEvent(message.span, epoch: epoch, rev: rev, to: &bytes)
            ends.append(bytes.count)
        }
        return (bytes, ends)
    }
}
