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
        level(limit, at: now) == limit.capacity
    }

    /// Returns the level at a time, in units.
    func level(_ limit: RateLimit, at now: Int64) -> Int64 {
        var copy = self
        copy.refill(limit, at: now)
        return copy.level
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
