import CoreMetrics
import Synchronization

/// A number that goes up and down: a meter, or a recorder that does not aggregate.
///
/// It is a double, so whole numbers are exact up to 2^53.
final class PrometheusGauge: MeterHandler, RecorderHandler {
    private let current = Atomic<Double>(0)

    /// The present value.
    var value: Double { current.load(ordering: .relaxed) }

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) { current.store(value, ordering: .relaxed) }

    func record(_ value: Int64) { set(Double(value)) }

    func record(_ value: Double) { set(value) }

    /// Adds an amount; what is no finite number is ignored, for there would be no way back from it.
    func increment(by amount: Double) {
        guard amount.isFinite else { return }
        current.add(amount)
    }

    func decrement(by amount: Double) { increment(by: -amount) }
}
