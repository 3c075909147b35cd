import Synchronization

extension Atomic<Double> {
    /// Adds `amount`, without a lock: whoever finds that another thread came first tries again with its sum.
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
