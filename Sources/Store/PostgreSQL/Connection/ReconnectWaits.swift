/// The waits between a thread's attempts to connect again. They grow while the attempts fail.
///
/// A plain value.
struct ReconnectWaits {
    /// Bounds of the longest possible wait in milliseconds. It doubles with each failure.
    static let bounds = 50.0...1_000.0

    private var longest = Self.bounds.lowerBound

    /// Returns the next wait: a random time of at least half of the longest one, so that nodes do not return together.
    mutating func next() -> Duration {
        defer { longest = min(2 * longest, Self.bounds.upperBound) }
        return .milliseconds(Double.random(in: longest / 2...longest))
    }
}
