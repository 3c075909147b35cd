/// The latest messages of a room as bytes that are ready to be sent, addressed by revision.
///
/// A subscriber is a revision: it has everything up to there. What it is to get next is one range of bytes, found by
/// subtraction, whoever asks; so a thousand subscribers that are level cost one buffer and a thousand writes of it.
///
///     start 41          42          43          ← revisions
///     bytes [ frame 42 ][ frame 43 ][ frame 44 ]
///                       ^ a subscriber at 42 gets everything from here
///
/// The oldest messages make room when there would be more than twice ``limit`` bytes. Who is still behind them reads the log.
public struct ByteLog: Sendable {
    /// The number of bytes that are left at most when the oldest messages make room, which they do when there would be
    /// more than twice as many; or one batch when that is larger.
    public static let defaultLimit = 32 * 1024

    /// What a subscriber at some revision is to do.
    public enum Reading: Equatable {
        /// Nothing: it has all there is.
        case level
        /// Send `bytes[range]`, after which it is at revision `rev`.
        case frames(Range<Int>, rev: Int64)
        /// Read the log: what comes next is not kept any more.
        case behind
    }

    /// The messages, one after the other.
    public private(set) var bytes: [UInt8] = []
    /// The revision before the first message; `nil` while it is not known.
    private var start: Int64?
    /// Where each message ends in `bytes`.
    private var ends: [Int] = []
    private let limit: Int

    /// An empty log.
    ///
    /// - Parameter rev: where its room is; `nil` when that is not known, and will be with the first batch.
    public init(limit: Int = ByteLog.defaultLimit, rev: Int64? = nil) {
        self.limit = limit
        start = rev
    }

    /// The revision of the last message; `nil` while it is not known.
    public var rev: Int64? { start.map { $0 + Int64(ends.count) } }

    /// Takes over messages whose revisions follow on those that it has.
    public mutating func append(_ frames: [UInt8], ends newEnds: [Int], firstRev: Int64) {
        if let rev, rev + 1 != firstRev { forgetAll() }
        if start == nil { start = firstRev - 1 }
        if bytes.count + frames.count > 2 * limit { forget(keeping: max(0, limit - frames.count)) }
        let offset = bytes.count
        if offset == 0 {
            // Shared with every other loop until somebody appends; where subscribers keep up, nobody does.
            bytes = frames
            ends = newEnds
        } else {
            bytes.append(contentsOf: frames)
            ends.reserveCapacity(ends.count + newEnds.count)
            for end in newEnds { ends.append(offset + end) }
        }
    }

    /// Returns whether so many bytes make no message go, in any format that a message has.
    func hasRoom(for count: Int) -> Bool {
        // Events are longer than frames, by less than half.
        bytes.count + count <= limit
    }

    /// What a subscriber at `rev` gets next, of about `limit` bytes at most, one message at least.
    public func next(after rev: Int64, limit: Int) -> Reading {
        guard let start else { return .level }
        let index = rev - start
        guard index >= 0 else { return .behind }
        guard index < Int64(ends.count) else { return .level }
        let first = Int(index)
        let from = first == 0 ? 0 : ends[first - 1]
        var last = ends.count - 1
        if ends[last] - from > limit {
            // The last message that ends within the limit.
            var low = first
            while low < last {
                let middle = (low + last + 1) / 2
                if ends[middle] - from <= limit { low = middle } else { last = middle - 1 }
            }
            last = low
        }
        return .frames(from..<ends[last], rev: start + Int64(last) + 1)
    }

    /// Drops all messages, for everybody has them. The log goes on from where it is.
    public mutating func forgetSent() {
        guard !ends.isEmpty else { return }
        start = rev
        bytes = []
        ends = []
    }

    private mutating func forgetAll() {
        start = nil
        bytes = []
        ends = []
    }

    /// Drops the oldest messages until at most `count` bytes are left.
    private mutating func forget(keeping count: Int) {
        guard let cut = ends.firstIndex(where: { bytes.count - $0 <= count }) else { return }
        let end = ends[cut]
        start! += Int64(cut + 1)
        bytes.removeFirst(end)
        ends.removeFirst(cut + 1)
        for index in ends.indices { ends[index] -= end }
    }
}
