import CLibwebsockets

/// What other threads have for a loop.
extension Loop {
    /// For how long what was posted keeps the sockets waiting: the rest is for the next turn.
    public static let workSlice = Duration.milliseconds(1)
    /// For how long sockets are served in one turn before urgent work is looked for. Sooner it would take apart what becomes
    /// one commit and one write to each subscriber: after each socket, a room of 1000 with 32 senders had a fifth fewer
    /// deliveries.
    static let urgentInterval = Duration.milliseconds(2)
    /// From when on a turn is one that takes long, see ``inLongTurns(_:)``. Two hundred senders at once take 4 ms; where their
    /// sends were handed on twice in that, there were a tenth fewer of them a second.
    static let longTurn = Duration.milliseconds(6)

    /// Has `work` run on the loop, after what was posted before. From any thread; on the loop itself too, where the
    /// work runs in the loop's next turn. After ``stop()`` nothing runs any more.
    ///
    /// - Returns: whether the loop took the work; it does not after ``stop()``.
    @discardableResult
    public func post(_ work: @escaping @Sendable () -> Void) -> Bool {
        put(.closure(work))
    }

    /// Has `work` run on the loop before anything else that waits there: between two sockets that are ready, even.
    /// What is urgent keeps its order; otherwise as ``post(_:)``.
    @discardableResult
    public func postUrgently(_ work: @escaping @Sendable () -> Void) -> Bool {
        mailbox.putUrgent(work) { uv_async_send(wakeup) }
    }

    @discardableResult
    func put(_ work: Mailbox.Work) -> Bool {
        mailbox.put(work) { uv_async_send(wakeup) }
    }

    /// Runs what is urgent. To be called between any two things that take long when there are many of them.
    public func runUrgentWork() {
        // Not in the middle of such work: what comes next would overtake what was taken out with it.
        guard !isRunningUrgentWork else { return }
        isRunningUrgentWork = true
        for work in mailbox.takeUrgent() where !isStopping { work() }
        isRunningUrgentWork = false
    }

    /// A socket has been served in this turn, or closed.
    func didServeSocket() {
        let now = ContinuousClock.now
        guard let due = urgentWorkDue else {
            urgentWorkDue = now + Self.urgentInterval
            return longTurnBegins = now + Self.longTurn
        }
        guard now >= due else { return }
        // What is done now serves sockets, too.
        urgentWorkDue = .now + Self.urgentInterval
        runUrgentWork()
        runInterludes(isLong: now >= longTurnBegins)
        urgentWorkDue = .now + Self.urgentInterval
    }

    /// Does what has been posted, for as long as a turn has for that.
    func drainMailbox() {
        if waiting.isEmpty { waiting = mailbox.take()[...] } else { waiting.append(contentsOf: mailbox.take()) }
        runUrgentWork()
        let end = ContinuousClock.now + Self.workSlice
        while let work = waiting.popFirst() {
            switch work {
            case .closure(let closure): if !isStopping { closure() }
            // Even when stopping: somebody may be waiting for what the task does.
            case .job(let job): run(job)
            }
            runUrgentWork()
            if ContinuousClock.now >= end, !isStopping, !waiting.isEmpty {
                uv_async_send(wakeup)
                return
            }
        }
    }
}
