import Synchronization

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

    /// The number of buckets.
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

/// The bounds of a ``BucketTable``.
enum BucketTableBounds {
    /// The number of mutexes of a table.
    static let shards = 16
    /// Maximum number of buckets behind one mutex: 65,536 in a table, which take about 8 MiB.
    static let bucketsPerShard = 4096
    /// The minimum time between two searches of a full table for buckets to drop, in nanoseconds.
    static let sweepInterval: Int64 = 100_000_000
}
