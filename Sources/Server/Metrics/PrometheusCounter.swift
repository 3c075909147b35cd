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
