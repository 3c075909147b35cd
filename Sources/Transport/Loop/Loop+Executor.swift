import Glibc
import Synchronization

/// Conformances that let an actor or a task run on a loop and share the loop's state.
extension Loop: SerialExecutor, TaskExecutor {
    /// Runs a job of an actor or task on the loop.
    public func enqueue(_ job: consuming ExecutorJob) {
        put(.job(UnownedJob(job)))
    }

    func run(_ job: UnownedJob) {
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }

    /// True if the caller is on this loop's thread.
    public var isCurrent: Bool { identity.load(ordering: .relaxed) == pthread_self() }

    /// Returns true if the caller is on this loop's thread; for the runtime.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Traps unless the caller is on this loop's thread; for the runtime.
    public func checkIsolated() {
        precondition(isCurrent, "used off its loop")
    }

    /// Traps unless the caller is on this loop's thread, or the loop has not started.
    public func preconditionIsolated() {
        let thread = identity.load(ordering: .relaxed)
        precondition(thread == 0 || thread == pthread_self(), "used off its loop")
    }
}
