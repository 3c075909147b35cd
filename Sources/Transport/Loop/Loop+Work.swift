import CLibwebsockets

/// Work that other threads give to a loop.
extension Loop {
    /// Maximum time for posted work in one turn; the rest waits for the next turn.
    public static let workSlice = Duration.milliseconds(1)

    /// Runs `work` on the loop after everything posted before. Call it from any thread; on the loop itself, the work
    /// runs in the next turn. After ``stop()`` nothing runs.
    ///
    /// - Returns: true if the loop accepted the work; false after ``stop()``.
    @discardableResult
    public func post(_ work: @escaping @Sendable () -> Void) -> Bool {
        put(.closure(work))
    }

    @discardableResult
    func put(_ work: Mailbox.Work) -> Bool {
        mailbox.put(work) { uv_async_send(wakeup) }
    }

    /// Runs posted work, up to the time limit of a turn.
    func drainMailbox() {
        if waiting.isEmpty { waiting = mailbox.take()[...] } else { waiting.append(contentsOf: mailbox.take()) }
        let end = ContinuousClock.now + Self.workSlice
        while let work = waiting.popFirst() {
            switch work {
            case .closure(let closure): if !isStopping { closure() }
            // Runs even while stopping: a caller may be waiting for the task.
            case .job(let job): run(job)
            }
            reading = nil
            if ContinuousClock.now >= end, !isStopping, !waiting.isEmpty {
                uv_async_send(wakeup)
                return
            }
        }
    }
}
