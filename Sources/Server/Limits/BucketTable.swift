import Synchronization

/// The buckets of one limit, of everybody who has used it of late. From any thread.
///
/// Those of one user are used on many loops, and no loop may give what another has taken: so they are behind mutexes,
/// many enough for loops to hardly ever meet.
final class BucketTable<Key: Hashable & Sendable>: Sendable {
    let limit: RateLimit
    private let shards: [Shard]

    /// A table without buckets: everybody's is full.
    init(_ limit: RateLimit) {
        self.limit = limit
        shards = (0..<BucketTableBounds.shards).map { _ in Shard() }
    }

    private final class Shard: Sendable {
        let state = Mutex(State())
    }

    private struct State {
        var buckets: [Key: TokenBucket] = [:]
        /// For those for whom there is no place, together.
        var others: TokenBucket?
        var nextSweep = Int64.min
    }

    /// The number of buckets.
    var count: Int {
        shards.reduce(0) { $0 + $1.state.withLock(\.buckets.count) }
    }

    /// Takes one from the bucket of `key`.
    ///
    /// - Parameter now: the time, in nanoseconds from some moment that is the same for all callers.
    /// - Returns: `nil` if there was one, or else how many nanoseconds it takes until there will be.
    func take(_ key: Key, at now: Int64) -> Int64? {
        shard(of: key).state.withLock { state in
            guard let place = state.buckets.index(forKey: key) else { return takeFirst(key, at: now, &state) }
            return state.buckets.values[place].take(limit, at: now)
        }
    }

    /// Puts back what ``take(_:at:)`` has given.
    func putBack(_ key: Key) {
        shard(of: key).state.withLock { $0.buckets[key]?.putBack(limit) }
    }

    private func shard(of key: Key) -> Shard {
        shards[Int(truncatingIfNeeded: UInt(bitPattern: key.hashValue) % UInt(shards.count))]
    }

    /// Makes a bucket. When there are too many, those that are full are let go of: a new one would be like them. If
    /// none is, whoever is new shares a bucket with all the others who are, and nobody is forgotten who is limited.
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
    /// The number of mutexes that a table has.
    static let shards = 16
    /// The number of buckets behind a mutex at most: 65,536 in a table, which take some 8 MiB.
    static let bucketsPerShard = 4096
    /// The time that a table that is full waits before it looks for buckets that need not be kept again, in
    /// nanoseconds.
    static let sweepInterval: Int64 = 100_000_000
}
