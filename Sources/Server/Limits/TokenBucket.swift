/// How much of a limit is left: a bucket that holds a burst, loses one for each time, and fills up at the rate.
///
/// The contents are counted in a unit in which nothing has to be rounded: one time is as many units as a period has
/// nanoseconds, and in each nanosecond as many units come back as there are times in a period. A full bucket has
/// 3.6 × 10¹⁸ units at most.
struct TokenBucket: Equatable {
    /// What is in it, in units, as of `moment`.
    private var level: Int64
    /// In nanoseconds.
    private var moment: Int64

    /// A full bucket.
    ///
    /// - Parameter now: the time, in nanoseconds from some moment.
    init(full limit: RateLimit, at now: Int64) {
        level = limit.capacity
        moment = now
    }

    /// Takes one.
    ///
    /// - Returns: `nil` if there was one, or else how many nanoseconds it takes until there will be.
    mutating func take(_ limit: RateLimit, at now: Int64) -> Int64? {
        refill(limit, at: now)
        guard level < limit.cost else {
            level -= limit.cost
            return nil
        }
        let missing = limit.cost - level
        return (missing + Int64(limit.count) - 1) / Int64(limit.count)
    }

    /// Puts back one that was taken and not used.
    mutating func putBack(_ limit: RateLimit) {
        level = min(limit.capacity, level + limit.cost)
    }

    /// Returns whether it has all that it can hold, so that it need not be kept.
    func isFull(_ limit: RateLimit, at now: Int64) -> Bool {
        var copy = self
        copy.refill(limit, at: now)
        return copy.level == limit.capacity
    }

    /// Loops see the time at the beginning of their turns, so one may be behind another: then nothing comes back.
    private mutating func refill(_ limit: RateLimit, at now: Int64) {
        guard now > moment else { return }
        // No more than it takes to fill an empty bucket, so that the product stays in range.
        let elapsed = min(now - moment, limit.capacity / Int64(limit.count) + 1)
        level = min(limit.capacity, level + elapsed * Int64(limit.count))
        moment = now
    }
}

extension RateLimit {
    /// One time, in a bucket's units.
    fileprivate var cost: Int64 { Int64(period.seconds) * 1_000_000_000 }
    /// A full bucket, in its units.
    fileprivate var capacity: Int64 { Int64(burst) * cost }
}
