import Synchronization
import Wire

/// The unit that a limit counts by: a user, or a block of addresses.
protocol LimitKey: Hashable, Sendable {
    /// The key that new keys like this one share a bucket by while the table is crowded; `nil` if they share none.
    var wider: Self? { get }
}

extension UserID: LimitKey {
    var wider: UserID? { nil }
}

/// The buckets of one limit, for every user or address that used it recently. Safe to use from any thread.
///
/// One user's bucket may be used on many loops, which together must not exceed the limit. So buckets are behind
/// mutexes, with enough of these that loops rarely contend.
///
/// A table is bounded, and a new key always gets a bucket, so that somebody with many names or addresses cannot lock
/// others out. A full table drops the fullest buckets: they equal new ones, or nearly. A key that is at its limit has an
/// empty bucket, which is dropped last.
final class BucketTable<Key: LimitKey>: Sendable {
    let limit: RateLimit
    private let shards: [Shard]

    /// Creates an empty table. Without a bucket, everybody has the full burst.
    init(_ limit: RateLimit) {
        self.limit = limit
        shards = (0..<BucketTableBounds.shards).map { _ in Shard() }
    }

    private final class Shard: Sendable {
        let buckets = Mutex<[Key: TokenBucket]>([:])
    }

    var count: Int {
        shards.reduce(0) { $0 + $1.buckets.withLock(\.count) }
    }

    /// Takes one token from the bucket of `key`.
    ///
    /// - Parameter now: The time in nanoseconds, on a clock that all callers share.
    /// - Returns: `nil` if there was a token, or the number of nanoseconds until there will be one.
    func take(_ key: Key, at now: Int64) -> Int64? {
        switch take(key, at: now, orWider: true) {
        case .taken: nil
        case .empty(let wait): wait
        case .crowded(let wider): if case .empty(let wait) = take(wider, at: now, orWider: false) { wait } else { nil }
        }
    }

    private enum Outcome {
        case taken
        /// The time in nanoseconds until there will be a token.
        case empty(Int64)
        /// The key is new to a crowded table, and shares the bucket of this one.
        case crowded(Key)
    }

    private func take(_ key: Key, at now: Int64, orWider: Bool) -> Outcome {
        shard(of: key).buckets.withLock { buckets in
            if let index = buckets.index(forKey: key) {
                return buckets.values[index].take(limit, at: now).map(Outcome.empty) ?? .taken
            }
            if orWider, buckets.count >= BucketTableBounds.crowdedShard, let wider = key.wider {
                return .crowded(wider)
            }
            if buckets.count >= BucketTableBounds.bucketsPerShard { makeRoom(in: &buckets, at: now) }
            var bucket = TokenBucket(full: limit, at: now)
            defer { buckets[key] = bucket }
            return bucket.take(limit, at: now).map(Outcome.empty) ?? .taken
        }
    }

    /// Returns a token that ``take(_:at:)`` took.
    func putBack(_ key: Key) {
        let isKnown = shard(of: key).buckets.withLock { $0[key]?.putBack(limit) != nil }
        guard !isKnown, let wider = key.wider else { return }
        shard(of: wider).buckets.withLock { $0[wider]?.putBack(limit) }
    }

    private func shard(of key: Key) -> Shard {
        shards[Int(truncatingIfNeeded: UInt(bitPattern: key.hashValue) % UInt(shards.count))]
    }

    /// Drops the fullest quarter of the buckets, and all that are full. So many are dropped at once that a new key
    /// costs about a microsecond on average.
    private func makeRoom(in buckets: inout [Key: TokenBucket], at now: Int64) {
        let levels = buckets.values.map { $0.level(limit, at: now) }.sorted(by: >)
        // Among equally full buckets, only as many as needed are dropped.
        var surplus = BucketTableBounds.droppedBuckets
        let least = levels[surplus - 1]
        surplus -= levels.prefix { $0 > least }.count
        buckets = buckets.filter { _, bucket in
            let level = bucket.level(limit, at: now)
            if level > least || bucket.isFull(limit, at: now) { return false }
            guard level == least, surplus > 0 else { return true }
            surplus -= 1
            return false
        }
    }
}

enum BucketTableBounds {
    /// The number of mutexes of a table.
    static let shards = 16
    /// Maximum number of buckets behind one mutex: 65,536 in a table, which take about 8 MiB.
    static let bucketsPerShard = 4096
    /// The number of buckets behind one mutex from which new IPv6 addresses share the bucket of a larger block.
    static let crowdedShard = bucketsPerShard / 2
    /// The number of buckets that are dropped when their mutex's table is full.
    static let droppedBuckets = bucketsPerShard / 4
}
