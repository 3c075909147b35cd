import Synchronization

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
