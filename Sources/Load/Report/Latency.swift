import Histogram

/// Durations of one kind, in a histogram of high dynamic range: three significant digits from 1 µs to 10 minutes.
struct Latency: Sendable {
    private static let longest: UInt64 = 600_000_000_000
    /// Nil until something is recorded: it takes 170 KB.
    private var histogram: Histogram<UInt64>?

    init() {}

    /// Records a duration, in nanoseconds. What is longer than the histogram reaches counts as the longest.
    mutating func record(_ nanoseconds: Int64) {
        if histogram == nil {
            histogram = Histogram(
                lowestDiscernibleValue: 1000, highestTrackableValue: Self.longest,
                numberOfSignificantValueDigits: .three)
        }
        histogram!.record(min(UInt64(max(nanoseconds, 0)), Self.longest))
    }

    /// Adds what another loop has recorded.
    mutating func add(_ other: Latency) {
        guard let added = other.histogram else { return }
        if histogram == nil { histogram = added } else { histogram!.add(added) }
    }

    /// The percentiles of what was recorded.
    var summary: LatencySummary {
        guard let histogram else { return LatencySummary() }
        func at(_ percentile: Double) -> Double { Double(histogram.valueAtPercentile(percentile)) / 1e6 }
        return LatencySummary(
            count: Int(histogram.totalCount), p50: at(50), p90: at(90), p99: at(99), p999: at(99.9), max: at(100))
    }
}

/// Percentiles of durations, in milliseconds.
struct LatencySummary: Equatable, Sendable {
    /// The number of durations.
    var count = 0
    /// Half of them took no longer than this.
    var p50 = 0.0
    /// Nine of ten.
    var p90 = 0.0
    /// 99 of 100.
    var p99 = 0.0
    /// 999 of 1000.
    var p999 = 0.0
    /// All.
    var max = 0.0
}
