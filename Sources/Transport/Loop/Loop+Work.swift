import CLibwebsockets

/// Work that other threads give to a loop.
extension Loop {
    /// Maximum time for posted work in one turn; the rest waits for the next turn.
    public static let workSlice = Duration.milliseconds(1)
    /// Time after which serving sockets in one turn is interrupted for urgent work. A shorter interval splits what
    /// would become one commit and one write per subscriber, and costs throughput.
    static let urgentInterval = Duration.milliseconds(2)
    private static let urgentNanoseconds = Int64(urgentInterval / .nanoseconds(1))

    /// Runs `work` on the loop after everything posted before. Call it from any thread; on the loop itself, the work
    /// runs in the next turn. After ``stop()`` nothing runs.
    ///
    /// - Returns: true if the loop accepted the work; false after ``stop()``.
    @discardableResult
    public func post(_ work: @escaping @Sendable () -> Void) -> Bool {
        put(.closure(work))
    }

    /// Runs `work` on the loop before all other waiting work, even between two ready sockets. Urgent work keeps its
    /// order. In all else it is like ``post(_:)``. Commits arrive by it, so that a turn with thousands of ready sockets
    /// does not delay them (scenario G of `scripts/compare`).
    @discardableResult
    public func postUrgently(_ work: @escaping @Sendable () -> Void) -> Bool {
        mailbox.putUrgent(work) { uv_async_send(wakeup) }
    }

    @discardableResult
    func put(_ work: Mailbox.Work) -> Bool {
        mailbox.put(work) { uv_async_send(wakeup) }
    }

    /// Runs urgent work. Call it between steps that take long when there are many of them.
    public func runUrgentWork() {
        // Not during urgent work: new work would overtake what was taken out with the current one.
        guard !isRunningUrgentWork else { return }
        isRunningUrgentWork = true
        for work in mailbox.takeUrgent() where !isStopping {
            work()
            reading = nil
        }
        isRunningUrgentWork = false
    }

    /// Records that a socket was served or closed in this turn. If urgent work is due, runs it, and the work of
    /// ``betweenSockets(_:)``.
    func didServeSocket() {
        let now = readClock()
        guard let due = urgentWorkDue else { return urgentWorkDue = now + Self.urgentNanoseconds }
        guard now >= due else { return }
        runUrgentWork()
        runWorkBetweenSockets()
        urgentWorkDue = readClock() + Self.urgentNanoseconds
    }

    /// Runs posted work, up to the time limit of a turn.
    func drainMailbox() {
        if waiting.isEmpty { waiting = mailbox.take()[...] } else { waiting.append(contentsOf: mailbox.take()) }
        runUrgentWork()
        let end = ContinuousClock.now + Self.workSlice
        while let work = waiting.popFirst() {
            switch work {
            case .closure(let closure): if !isStopping { closure() }
            // Runs even while stopping: a caller may be waiting for the task.
            case .job(let job): run(job)
            }
            reading = nil
            runUrgentWork()
            if ContinuousClock.now >= end, !isStopping, !waiting.isEmpty {
                uv_async_send(wakeup)
                return
            }
        }
    }
}
