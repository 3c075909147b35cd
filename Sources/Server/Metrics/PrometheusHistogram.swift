import CoreMetrics
import Synchronization

/// The distribution of the values of a recorder or timer.
final class PrometheusHistogram: RecorderHandler, TimerHandler {
    let buckets: HistogramBuckets
    /// The number of values in each bucket alone; the exposition adds them up.
    private let counts: InlineArray<17, Atomic<UInt64>>
    private let total = Atomic<Double>(0)

    init(_ buckets: HistogramBuckets) {
        precondition(buckets.upperBounds.count == 16, "there is a count for every bound, and one for what is above")
        self.buckets = buckets
        counts = InlineArray { _ in Atomic(0) }
    }

    func record(_ value: Int64) { record(Double(value)) }

    /// Counts a value. Infinite and NaN values are ignored, since they would spoil the sum.
    func record(_ value: Double) {
        guard value.isFinite else { return }
        counts[buckets.index(of: value)].wrappingAdd(1, ordering: .relaxed)
        total.add(value)
    }

    /// Counts a duration, in seconds. The quotient is rounded only once, so 100,000 ns fall within `le="0.0001"`.
    func recordNanoseconds(_ duration: Int64) { record(Double(max(duration, 0)) / 1e9) }

    /// Returns the number of values in each bucket and those below it (the last element counts all values), and the sum
    /// of the values. The sum may be ahead of the counts by the values being recorded at the moment.
    func snapshot() -> (cumulative: [UInt64], sum: Double) {
        var cumulative: [UInt64] = []
        cumulative.reserveCapacity(counts.count)
        var count: UInt64 = 0
        for index in counts.indices {
            count &+= counts[index].load(ordering: .relaxed)
            cumulative.append(count)
        }
        return (cumulative, total.load(ordering: .relaxed))
    }
}
