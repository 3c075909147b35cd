/// The buckets of a histogram. They are fixed, because only series with equal buckets can be added up.
struct HistogramBuckets: Sendable {
    /// The upper bound of each bucket (its `le`), ascending. The last bucket has no bound.
    let upperBounds: [Double]

    /// For timers, in seconds: 1, 2.5 and 5 of each decade, from 100 µs to 10 s.
    static let durations = HistogramBuckets(upperBounds: [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ])

    /// For recorders, in their own unit: the powers of two from 1 to 32,768.
    static let sizes = HistogramBuckets(upperBounds: [
        1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768,
    ])

    /// Returns the index of the bucket that a value belongs to.
    func index(of value: Double) -> Int {
        // Most values are low and the buckets are few, so a linear search is faster than a binary one.
        var index = 0
        while index < upperBounds.count, value > upperBounds[index] { index += 1 }
        return index
    }
}
