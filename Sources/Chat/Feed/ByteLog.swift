/// The newest messages of a room as encoded bytes, addressed by revision.
///
/// A subscriber's position is the revision up to which it has every change. Its next bytes are a single range, found by
/// subtraction. So a thousand subscribers at the same position share one buffer.
///
///     start 41          42          43          ← revisions
///     bytes [ frame 42 ][ frame 43 ][ frame 44 ]
///                       ^ a subscriber at 42 gets everything from here
///
/// When the log has more than twice ``limit`` bytes, the oldest messages are dropped. Subscribers that still need them
/// read the message log.
public struct ByteLog: Sendable {
    /// Default limit in bytes. When a log exceeds twice its limit, the oldest messages are dropped until at most the
    /// limit, or one larger batch, is left.
    public static let defaultLimit = 32 * 1024

    /// The next step of a subscriber at some revision.
    public enum Reading: Equatable {
        /// Nothing to send: the subscriber has everything.
        case level
        /// Send `bytes[range]`, after which it is at revision `rev`.
        case frames(Range<Int>, rev: Int64)
        /// Read the log: the next messages have been dropped.
        case behind
    }

    /// The encoded messages, concatenated.
    public private(set) var bytes: [UInt8] = []
    /// The revision before the first message; `nil` while unknown.
    private var start: Int64?
    /// The end of each message in `bytes`.
    private var ends: [Int] = []
    private let limit: Int

    /// Creates an empty log.
    ///
    /// - Parameter rev: The room's revision; `nil` if unknown until the first batch.
    public init(limit: Int = ByteLog.defaultLimit, rev: Int64? = nil) {
        self.limit = limit
        start = rev
    }

    /// The revision of the last message; `nil` while unknown.
    public var rev: Int64? { start.map { $0 + Int64(ends.count) } }

    /// Appends messages. If their revisions do not follow the last one, all earlier messages are dropped.
    public mutating func append(_ frames: [UInt8], ends newEnds: [Int], firstRev: Int64) {
        if let rev, rev + 1 != firstRev { forgetAll() }
        if start == nil { start = firstRev - 1 }
        if bytes.count + frames.count > 2 * limit { forget(keeping: max(0, limit - frames.count)) }
        let offset = bytes.count
        if offset == 0 {
            // The arrays stay shared with the other loops until this loop appends. It never appends while its
            // subscribers keep up.
            bytes = frames
            ends = newEnds
        } else {
            bytes.append(contentsOf: frames)
            ends.reserveCapacity(ends.count + newEnds.count)
            for end in newEnds { ends.append(offset + end) }
        }
    }

    /// Returns true if `count` more bytes of frames cause no message to be dropped, in any format.
    func hasRoom(for count: Int) -> Bool {
        // Events are longer than frames, by less than half.
        bytes.count + count <= limit
    }

    /// Returns the next step of a subscriber at `rev`: at most about `limit` bytes, but at least one message.
    public func next(after rev: Int64, limit: Int) -> Reading {
        guard let start else { return .level }
        let index = rev - start
        guard index >= 0 else { return .behind }
        guard index < Int64(ends.count) else { return .level }
        let first = Int(index)
        let from = first == 0 ? 0 : ends[first - 1]
        var last = ends.count - 1
        if ends[last] - from > limit {
            // A binary search for the last message that ends within the limit.
            var low = first
            while low < last {
                let middle = (low + last + 1) / 2
                if ends[middle] - from <= limit { low = middle } else { last = middle - 1 }
            }
            last = low
        }
        return .frames(from..<ends[last], rev: start + Int64(last) + 1)
    }

    /// Drops all messages, because every subscriber has them. Keeps the revision.
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
