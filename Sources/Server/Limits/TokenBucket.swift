import Synchronization

/// A token bucket: holds at most the burst, loses a token for each action, and refills at the limit's rate.
///
/// Its level is an integer in a unit that never needs rounding: a token is as many units as the period has nanoseconds,
/// and each nanosecond adds as many units as the period has tokens. A full bucket has at most 3.6 × 10¹⁸ units.
struct TokenBucket: Equatable {
    /// The level at `moment`, in units.
    private var level: Int64
    /// The time of the last refill, in nanoseconds.
    private var moment: Int64

    /// Creates a full bucket.
    ///
    /// - Parameter now: The current time, in nanoseconds.
    init(full limit: RateLimit, at now: Int64) {
        level = limit.capacity
        moment = now
    }

    /// Takes one token.
    ///
    /// - Returns: `nil` if there was a token, or the number of nanoseconds until there will be one.
    mutating func take(_ limit: RateLimit, at now: Int64) -> Int64? {
        refill(limit, at: now)
        guard level < limit.cost else {
            level -= limit.cost
            return nil
        }
        let missing = limit.cost - level
        return (missing + Int64(limit.count) - 1) / Int64(limit.count)
    }

    /// Returns a token that was not used.
    mutating func putBack(_ limit: RateLimit) {
        level = min(limit.capacity, level + limit.cost)
    }

    /// Returns true if the bucket is full, so that it need not be kept.
    func isFull(_ limit: RateLimit, at now: Int64) -> Bool {
        var copy = self
        copy.refill(limit, at: now)
        return copy.level == limit.capacity
    }

    /// Adds the tokens of the time that has passed. Each loop's clock stands still during a turn, so one may be behind
    /// another; then nothing is added.
    private mutating func refill(_ limit: RateLimit, at now: Int64) {
        guard now > moment else { return }
        // At most the time that fills an empty bucket, so that the product stays in range.
        let elapsed = min(now - moment, limit.capacity / Int64(limit.count) + 1)
        level = min(limit.capacity, level + elapsed * Int64(limit.count))
        moment = now
    }
}

extension RateLimit {
    /// The units of one token.
    fileprivate var cost: Int64 { Int64(period.seconds) * 1_000_000_000 }
    /// The units of a full bucket.
    fileprivate var capacity: Int64 { Int64(burst) * cost }
}

/// The buckets of one limit, for every user or address that used it recently. Safe to use from any thread.
///
/// One user's bucket may be used on many loops, which together must not exceed the limit. So buckets are behind
/// mutexes, with enough of these that loops rarely contend.
final class BucketTable<Key: Hashable & Sendable>: Sendable {
    let limit: RateLimit
    private let shards: [Shard]

    /// Creates an empty table. Without a bucket, everybody has the full burst.
    init(_ limit: RateLimit) {
        self.limit = limit
        shards = (0..<BucketTableBounds.shards).map { _ in Shard() }
    }

    private final class Shard: Sendable {
        let state = Mutex(State())
    }

    private struct State {
        var buckets: [Key: TokenBucket] = [:]
        /// One shared bucket for all keys that found the table full.
        var others: TokenBucket?
        var nextSweep = Int64.min
    }

    var count: Int {
        shards.reduce(0) { $0 + $1.state.withLock(\.buckets.count) }
    }

    /// Takes one token from the bucket of `key`.
    ///
    /// - Parameter now: The time in nanoseconds, on a clock that all callers share.
    /// - Returns: `nil` if there was a token, or the number of nanoseconds until there will be one.
    func take(_ key: Key, at now: Int64) -> Int64? {
        shard(of: key).state.withLock { state in
            guard let place = state.buckets.index(forKey: key) else { return takeFirst(key, at: now, &state) }
            return state.buckets.values[place].take(limit, at: now)
        }
    }

    /// Returns a token that ``take(_:at:)`` took.
    func putBack(_ key: Key) {
        shard(of: key).state.withLock { $0.buckets[key]?.putBack(limit) }
    }

    private func shard(of key: Key) -> Shard {
        shards[Int(truncatingIfNeeded: UInt(bitPattern: key.hashValue) % UInt(shards.count))]
    }

    /// Creates a bucket for a new key. If the table is full, it first drops full buckets, which equal new ones. If
    /// there is none to drop, all new keys share one bucket, so no limited key is forgotten.
    private func takeFirst(_ key: Key, at now: Int64, _ state: inout State) -> Int64? {
        if state.buckets.count >= BucketTableBounds.bucketsPerShard, now >= state.nextSweep {
            state.nextSweep = now + BucketTableBounds.sweepInterval
            state.buckets = state.buckets.filter { !$0.value.isFull(limit, at: now) }
        }
        guard state.buckets.count < BucketTableBounds.bucketsPerShard else {
            var others = state.others ?? TokenBucket(full: limit, at: now)
            defer { state.others = others }
            return others.take(limit, at: now)
        }
        var bucket = TokenBucket(full: limit, at: now)
        defer { state.buckets[key] = bucket }
        return bucket.take(limit, at: now)
    }
}

enum BucketTableBounds {
    /// The number of mutexes of a table.
    static let shards = 16
    /// Maximum number of buckets behind one mutex: 65,536 in a table, which take about 8 MiB.
    static let bucketsPerShard = 4096
    /// The minimum time between two searches of a full table for buckets to drop, in nanoseconds.
    static let sweepInterval: Int64 = 100_000_000
}
