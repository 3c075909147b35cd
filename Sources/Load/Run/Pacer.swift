import Glibc
import Synchronization
import Transport
import Wire

/// A thread that wakes the loops when a request of an open loop is due.
///
/// The loops' own timers have a resolution of only 100 ms.
final class Pacer: Sendable {
    /// Minimum time between wake-ups. At higher rates, each wake-up sends several requests.
    static let shortestSleep = Duration.microseconds(100)

    private let clock: RunClock
    private let workers: [LoopBound<LoadWorker>]
    private let start: Int64
    private let interval: Int64
    private let isStopped = Atomic(false)
    /// Number of loops that have not yet handled the last wake-up. No further one is posted meanwhile.
    private let underWay = Atomic(0)

    /// Creates a pacer for requests due from `start` on, at `perSecond` over all workers.
    init(_ workers: [LoopBound<LoadWorker>], clock: RunClock, start: Int64, perSecond: Double) {
        self.workers = workers
        self.clock = clock
        self.start = start
        interval = max(Int64(1e9 / perSecond), Self.shortestSleep.nanoseconds)
    }

    /// Starts the thread. It ends itself after ``stop()``.
    func run() {
        let this = Unmanaged.passRetained(self).toOpaque()
        var thread = pthread_t()
        let failed = pthread_create(
            &thread, nil,
            { this in
                // Balances the retain before `pthread_create`.
                Unmanaged<Pacer>.fromOpaque(this!).takeRetainedValue().pace()
                return nil
            }, this)
        precondition(failed == 0, "no thread could be started")
        pthread_detach(thread)
    }

    /// Tells the thread to end.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
    }

    private func pace() {
        var due = start
        while !isStopped.load(ordering: .relaxed) {
            clock.sleep(until: due)
            due += interval
            // After a pause of this process one wake-up is enough, because the workers know which requests are due.
            let now = clock.now
            if due < now { due += (now - due) / interval * interval }
            guard underWay.load(ordering: .acquiring) == 0 else { continue }
            underWay.store(workers.count, ordering: .relaxed)
            for worker in workers {
                worker.loop.post {
                    worker.value.publishers?.sendWhatIsDue()
                    self.underWay.wrappingSubtract(1, ordering: .releasing)
                }
            }
        }
    }
}
