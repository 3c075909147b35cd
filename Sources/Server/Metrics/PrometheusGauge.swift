import CoreMetrics
import Synchronization

/// A number that goes up and down: a meter, or a recorder that does not aggregate.
///
/// The value is a double, so whole numbers are exact up to 2^53.
final class PrometheusGauge: MeterHandler, RecorderHandler {
    private let current = Atomic<Double>(0)

    /// The current value.
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
