import Synchronization

/// The exposition of metrics for all who ask within an interval. It takes about a millisecond to compute, which nobody
/// may ask for more often: requests for it need no token and have no limit.
final class SharedExposition: Sendable {
    private let registry: PrometheusRegistry
    private let interval: Duration
    private let latest = Mutex<(bytes: [UInt8], end: ContinuousClock.Instant)?>(nil)

    /// Creates a shared exposition.
    ///
    /// - Parameter interval: Minimum time between two computations; zero to compute each time.
    init(of registry: PrometheusRegistry, interval: Duration) {
        self.registry = registry
        self.interval = interval
    }

    /// Returns the exposition, computed within the interval before `now`. Other threads wait for a computation.
    func bytes(at now: ContinuousClock.Instant) -> [UInt8] {
        latest.withLock { latest in
            if let latest, now < latest.end { return latest.bytes }
            let bytes = registry.exposition()
            latest = (bytes, now + interval)
            return bytes
        }
    }
}
