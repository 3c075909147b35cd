import Histogram

/// A high dynamic range histogram of durations: three significant digits from 1 µs to 10 minutes.
struct Latency: Sendable {
    private static let longest: UInt64 = 600_000_000_000
    /// The histogram; nil until something is recorded, because it takes 170 KB.
    private var histogram: Histogram<UInt64>?

    /// Records a duration in nanoseconds. Longer durations than the histogram's maximum count as the maximum.
    mutating func record(_ nanoseconds: Int64) {
        if histogram == nil {
            histogram = Histogram(
                lowestDiscernibleValue: 1000, highestTrackableValue: Self.longest,
                numberOfSignificantValueDigits: .three)
        }
        histogram!.record(min(UInt64(max(nanoseconds, 0)), Self.longest))
    }

    /// Adds the durations of another loop.
    mutating func add(_ other: Latency) {
        guard let added = other.histogram else { return }
        if histogram == nil { histogram = added } else { histogram!.add(added) }
    }

    /// The percentiles of the recorded durations.
    var summary: LatencySummary {
        guard let histogram else { return LatencySummary() }
        func at(_ percentile: Double) -> Double { Double(histogram.valueAtPercentile(percentile)) / 1e6 }
        return LatencySummary(
            count: Int(histogram.totalCount), p50: at(50), p90: at(90), p95: at(95), p99: at(99), p999: at(99.9),
            max: at(100))
    }
}

/// Percentiles of durations, in milliseconds.
struct LatencySummary: Equatable, Sendable {
    /// Number of durations.
    var count = 0
    var p50 = 0.0
    var p90 = 0.0
    var p95 = 0.0
    var p99 = 0.0
    /// The 99.9th percentile.
    var p999 = 0.0
    var max = 0.0
}
