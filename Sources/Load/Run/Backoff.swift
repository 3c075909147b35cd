import Wire

/// The pause before the next attempt, which keeps clients from reconnecting to a restarted server all at once.
enum Backoff {
    static let first = Duration.milliseconds(100)
    static let longest = Duration.seconds(2)

    /// Returns the pause in nanoseconds before the n-th consecutive attempt, from 1. It doubles each time up to
    /// ``longest``. The result is random, between half of that and all of it.
    static func delay(attempt: Int, using generator: inout some RandomNumberGenerator) -> Int64 {
        let doubled = first.nanoseconds << Int64(min(max(attempt, 1) - 1, 10))
        let bounded = min(doubled, longest.nanoseconds)
        return .random(in: bounded / 2...bounded, using: &generator)
    }
}

/// A small and fast random generator (xorshift64*), seeded from the system's.
struct SmallGenerator: RandomNumberGenerator {
    private var state = UInt64.random(in: 1 ... .max)

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
