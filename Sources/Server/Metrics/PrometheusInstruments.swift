import CoreMetrics
import Synchronization

/// A number that only grows, by whole or by real amounts. A counter and a floating-point counter of the same name share
/// one instance.
final class PrometheusCounter: CounterHandler, FloatingPointCounterHandler {
    // Two sums, so that the usual whole amounts cost one instruction and stay exact.
    private let whole = Atomic<UInt64>(0)
    private let real = Atomic<Double>(0)

    /// Adds an amount. A negative one is ignored, since Prometheus takes a falling counter for a restart.
    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        whole.wrappingAdd(UInt64(amount), ordering: .relaxed)
    }

    /// Adds an amount. Negative, infinite and NaN amounts are ignored.
    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        real.add(amount)
    }

    /// Sets the counter to zero, as after a restart.
    func reset() {
        whole.store(0, ordering: .relaxed)
        real.store(0, ordering: .relaxed)
    }

    /// The sum since the start.
    var value: Value {
        let whole = whole.load(ordering: .relaxed)
        let real = real.load(ordering: .relaxed)
        return real == 0 ? .whole(whole) : .real(Double(whole) + real)
    }

    /// A sum; exact if only whole amounts were added.
    enum Value: Equatable, Sendable {
        case whole(UInt64)
        case real(Double)
    }
}

/// A number that goes up and down: a meter, or a recorder that does not aggregate.
///
/// The value is a double, so whole numbers are exact up to 2^53.
final class PrometheusGauge: MeterHandler, RecorderHandler {
    private let current = Atomic<Double>(0)

    var value: Double { current.load(ordering: .relaxed) }

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) { current.store(value, ordering: .relaxed) }

    func record(_ value: Int64) { set(Double(value)) }

    func record(_ value: Double) { set(value) }

    /// Adds an amount. Infinite and NaN amounts are ignored, since no later amount could undo them.
    func increment(by amount: Double) {
        guard amount.isFinite else { return }
        current.add(amount)
    }

    func decrement(by amount: Double) { increment(by: -amount) }
}

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

extension Atomic<Double> {
    /// Adds `amount` without a lock. If another thread changes the value meanwhile, it retries.
    func add(_ amount: Double) {
        var current = load(ordering: .relaxed)
        while true {
            let (exchanged, original) = weakCompareExchange(
                expected: current, desired: current + amount, ordering: .relaxed)
            if exchanged { return }
            current = original
        }
    }
}
