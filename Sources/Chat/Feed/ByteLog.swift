/// The newest messages of a room as encoded bytes, addressed by revision.
///
/// A subscriber's position is the revision up to which it has every change. Its next bytes are a single range, found by
/// subtraction, or by a binary search after a batch whose revisions are not consecutive. So a thousand subscribers at
/// the same position share one buffer.
///
///     start 41          42          43          ← revisions
///     bytes [ frame 42 ][ frame 43 ][ frame 44 ]
///                       ^ a subscriber at 42 gets everything from here
///
/// When there are more than twice ``limit`` bytes, the oldest messages are dropped. Subscribers that still need them read
/// the ``MessageLog``.
public struct ByteLog: Sendable {
    /// Default limit in bytes. When a log exceeds twice its limit, the oldest messages are dropped until at most the
    /// limit, or one larger batch, is left.
    public static let defaultLimit = 32 * 1024

    /// The next step of a subscriber at some revision.
    public enum Reading: Equatable {
        /// Nothing to send: the subscriber has everything.
        case level
        /// Send `bytes[range]`, after which it is at revision `rev`. The range is empty if no message has a revision
        /// in between.
        case frames(Range<Int>, rev: Int64)
        /// Read the ``MessageLog``: the next messages have been dropped here.
        case behind
    }

    /// The encoded messages, concatenated.
    public private(set) var bytes: [UInt8] = []
    /// The revision before the first message; `nil` while unknown.
    private var start: Int64?
    /// The end of each message in `bytes`.
    private var ends: [Int] = []
    /// The revision of each message; `nil` if they are consecutive, starting after `start`.
    private var revs: [Int64]?
    /// The revision up to which a subscriber has everything after the last message; `nil` while unknown.
    public private(set) var rev: Int64?
    private let limit: Int

    /// Creates an empty log.
    ///
    /// - Parameter rev: The room's revision; `nil` if unknown until the first batch.
    public init(limit: Int = ByteLog.defaultLimit, rev: Int64? = nil) {
        self.limit = limit
        start = rev
        self.rev = rev
    }

    /// Appends messages. If they do not continue where the last ones ended, all earlier messages are dropped.
    ///
    /// - Parameters:
    ///   - since: The revision before the messages.
    ///   - revisions: The messages' revisions; `nil` if they are consecutive.
    public mutating func append(
        _ frames: [UInt8], ends newEnds: [Int], since: Int64, revisions: Batch.Revisions? = nil
    ) {
        if rev != since {
            forgetAll()
            start = since
        }
        if bytes.count + frames.count > 2 * limit { forget(keeping: max(0, limit - frames.count)) }
        append(revisions, count: newEnds.count, since: since)
        let offset = bytes.count
        if offset == 0 {
            // The arrays are shared with the other loops until this loop appends to them, which it does only if a
            // subscriber still lacks their messages.
            bytes = frames
            ends = newEnds
        } else {
            bytes.append(contentsOf: frames)
            ends.reserveCapacity(ends.count + newEnds.count)
            for end in newEnds { ends.append(offset + end) }
        }
    }

    private mutating func append(_ revisions: Batch.Revisions?, count: Int, since: Int64) {
        rev = revisions?.end ?? since + Int64(count)
        if revisions == nil, revs == nil { return }
        if revs == nil { revs = ends.indices.map { start! + Int64($0) + 1 } }
        revs!.append(contentsOf: revisions?.revs ?? (0..<count).map { since + Int64($0) + 1 })
    }

    /// Returns true if `count` more bytes of frames cause no message to be dropped, in any format.
    func hasRoom(for count: Int) -> Bool {
        // Events are longer than frames, by less than half.
        bytes.count + count <= limit
    }

    /// Returns the next step of a subscriber at `rev`: at most about `limit` bytes, but at least one message.
    public func next(after rev: Int64, limit: Int) -> Reading {
        guard let start, let end = self.rev else { return .level }
        guard rev >= start else { return .behind }
        guard rev < end else { return .level }
        let first = firstIndex(after: rev, start)
        guard first < ends.count else { return .frames(bytes.count..<bytes.count, rev: end) }
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
        return .frames(from..<ends[last], rev: last == ends.count - 1 ? end : revs?[last] ?? start + Int64(last) + 1)
    }

    /// Returns the index of the first message with a higher revision, which may be the end.
    private func firstIndex(after rev: Int64, _ start: Int64) -> Int {
        guard let revs else { return Int(rev - start) }
        var (low, high) = (0, revs.count)
        while low < high {
            let middle = (low + high) / 2
            if revs[middle] <= rev { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Drops all messages, because every subscriber has them. Keeps the revision.
    public mutating func forgetSent() {
        guard !ends.isEmpty else {
            start = rev
            return
        }
        forgetAll()
    }

    private mutating func forgetAll() {
        start = rev
        bytes = []
        ends = []
        revs = nil
    }

    /// Drops the oldest messages until at most `count` bytes are left.
    private mutating func forget(keeping count: Int) {
        guard let cut = ends.firstIndex(where: { bytes.count - $0 <= count }) else { return }
        let end = ends[cut]
        start = revs?[cut] ?? start! + Int64(cut + 1)
        bytes.removeFirst(end)
        ends.removeFirst(cut + 1)
        revs?.removeFirst(cut + 1)
        for index in ends.indices { ends[index] -= end }
    }
}
