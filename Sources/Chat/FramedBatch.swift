public import Wire

/// A batch as it is sent: encoded once, for every subscriber on every loop.
public struct FramedBatch: Sendable {
    /// The room.
    public let room: RoomID
    /// The revision of the first message.
    public let firstRev: Int64
    /// The room's highest `seq` after the commit.
    public let head: Int64
    /// The messages as ``PushFormat/webSocket`` has them, one after the other.
    public let frames: [UInt8]
    /// Where each message's frame ends in `frames`.
    public let ends: [Int]
    /// The snapshots, for other formats.
    let messages: [[UInt8]]

    /// Encodes a batch.
    public init(_ batch: Batch) {
        room = batch.room
        firstRev = batch.firstRev
        head = batch.head
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

    /// The messages as ``PushFormat/serverSentEvents`` has them.
    func events(epoch: String) -> (bytes: [UInt8], ends: [Int]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frames.count + ends.count * 64)
        var ends: [Int] = []
        ends.reserveCapacity(messages.count)
        for (index, message) in messages.enumerated() {
            PushEncoding.appendEvent(message.span, epoch: epoch, rev: firstRev + Int64(index), to: &bytes)
            ends.append(bytes.count)
        }
        return (bytes, ends)
    }
}
