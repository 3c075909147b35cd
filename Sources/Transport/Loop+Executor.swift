import Glibc
import Synchronization

/// An actor or a task may have a loop to run on, and so share what belongs to the loop.
extension Loop: SerialExecutor, TaskExecutor {
    /// Has a job of an actor or task run on the loop.
    public func enqueue(_ job: consuming ExecutorJob) {
        put(.job(UnownedJob(job)))
    }

    func run(_ job: UnownedJob) {
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }

    /// True if the caller is on this loop's thread.
    public var isCurrent: Bool { identity.load(ordering: .relaxed) == pthread_self() }

    /// Asked by the runtime whether an actor on this executor is isolated where it is.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Called by the runtime when an actor on this executor asserts its isolation.
    public func checkIsolated() {
        precondition(isCurrent, "used off its loop")
    }

    /// Traps unless the caller is on this loop's thread (or the loop has not started).
    public func preconditionIsolated() {
        let thread = identity.load(ordering: .relaxed)
        precondition(thread == 0 || thread == pthread_self(), "used off its loop")
    }
}
