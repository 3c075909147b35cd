import CoreMetrics
import Synchronization

/// A number that only grows, by whole or by real amounts. A counter and a floating point counter of one name are the
/// same one.
final class PrometheusCounter: CounterHandler, FloatingPointCounterHandler {
    // Two sums, so that the usual whole amounts cost one instruction and stay exact.
    private let whole = Atomic<UInt64>(0)
    private let real = Atomic<Double>(0)

    /// Adds an amount. A negative one is ignored: a counter that falls is one that was restarted, to Prometheus.
    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        whole.wrappingAdd(UInt64(amount), ordering: .relaxed)
    }

    /// Adds an amount. A negative or infinite one, and what is no number, is ignored.
    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        real.add(amount)
    }

    /// Back to zero, as after a restart.
    func reset() {
        whole.store(0, ordering: .relaxed)
        real.store(0, ordering: .relaxed)
    }

    /// What has been added since the start.
    var value: Value {
        let whole = whole.load(ordering: .relaxed)
        let real = real.load(ordering: .relaxed)
        return real == 0 ? .whole(whole) : .real(Double(whole) + real)
    }

    /// A sum, exact if only whole amounts were added.
    enum Value: Equatable, Sendable {
        case whole(UInt64)
        case real(Double)
    }
}
