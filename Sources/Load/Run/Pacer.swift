import Glibc
import Synchronization
import Transport

/// The thread that wakes the loops of an open loop when a request is due.
///
/// Loops have deadlines of 100 ms; requests are due to the microsecond.
final class Pacer: Sendable {
    /// At higher rates than one request in this time, several are sent at a wake-up.
    static let shortestSleep = Duration.microseconds(100)

    private let clock: RunClock
    private let workers: [LoopBound<Worker>]
    private let start: Int64
    private let interval: Int64
    private let isStopped = Atomic(false)
    /// True if a wake-up is on its way to the loops: none is posted on top of it.
    private let underWay = Atomic(0)

    /// A pacer for requests that are due from `start` on, so many a second over all workers.
    init(_ workers: [LoopBound<Worker>], clock: RunClock, start: Int64, perSecond: Double) {
        self.workers = workers
        self.clock = clock
        self.start = start
        interval = max(Int64(1e9 / perSecond), Self.shortestSleep.nanoseconds)
    }

    /// Starts the thread, which ends by itself after ``stop()``.
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

    /// Ends the thread, soon.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
    }

    private func pace() {
        var due = start
        while !isStopped.load(ordering: .relaxed) {
            clock.sleep(until: due)
            due += interval
            // After a pause of this process only the last wake-up counts: the workers know what is due.
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
