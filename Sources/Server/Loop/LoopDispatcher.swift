import Chat
import Dispatch
import Synchronization
import Transport
import Wire

/// Forwards the log's events to the loops that need them, with one post, and so one wake-up, for each loop and commit.
final class LoopDispatcher: LogObserver {
    /// Counts what ``accessEnded(_:)`` tells the loops.
    let ends = AccessEnds()
    private let subscribedLoops: SubscribedLoops
    private let workers = Mutex<[LoopBound<Worker>]>([])
    /// Learns of commits, too; `nil` until it runs.
    private let webhooks = Mutex<WebhookService?>(nil)

    init(subscribedLoops: SubscribedLoops) {
        self.subscribedLoops = subscribedLoops
    }

    /// Sets the loops' workers, in the order of the loops. Call it before the first query.
    func connect(_ workers: [LoopBound<Worker>]) {
        self.workers.withLock { $0 = workers }
    }

    /// Sets the service that learns of commits; `nil` for none.
    func connect(_ webhooks: WebhookService?) { self.webhooks.withLock { $0 = webhooks } }

    /// Releases the workers after the log has closed. They hold the log, and the log holds the dispatcher.
    func disconnect() {
        workers.withLock { $0 = [] }
    }

    func membershipsChanged(_ changes: [MembershipChange]) {
        let workers = workers.withLock { $0 }
        for (worker, wanted) in zip(workers, subscribedLoops.distribute(changes, loops: workers.count))
        where !wanted.isEmpty {
            worker.loop.post { worker.value.users.membershipsChanged(wanted) }
        }
    }

    func accessEnded(_ ends: [AccessEnd]) {
        let workers = workers.withLock { $0 }
        if !workers.isEmpty { self.ends.announce() }
        for worker in workers { worker.loop.post { worker.value.accessEnded(ends) } }
    }

    /// Ends the sockets and event streams of a user on all loops.
    func endConnections(of user: UserID, because problem: Problem) {
        for worker in workers.withLock({ $0 }) {
            worker.loop.post { worker.value.endConnections(of: user, because: problem) }
        }
    }

    func committed(_ outcomes: [Outcome], _ batches: [Batch]) {
        webhooks.withLock { $0 }?.committed(outcomes, batches)
        let workers = workers.withLock { $0 }
        let batches = subscribedLoops.distribute(batches, loops: workers.count)
        let outcomes = split(outcomes, workers.count) { $0.ticket.loop }
        for (index, worker) in workers.enumerated() where !outcomes[index].isEmpty || !batches[index].isEmpty {
            let (mine, wanted) = (outcomes[index], batches[index])
            worker.loop.post { worker.value.committed(mine, wanted) }
        }
    }

    func fetched(_ replies: [any PendingReply]) {
        let workers = workers.withLock { $0 }
        let replies = split(replies, workers.count) { $0.loop }
        for (index, worker) in workers.enumerated() where !replies[index].isEmpty {
            let mine = replies[index]
            worker.loop.post { worker.value.log.fetched(mine[...]) }
        }
    }

    /// Time that ``abandoned(_:)`` waits for the loops: 250 ms. A loop that does not answer cannot say that its clients
    /// still wait.
    private static let checkTime = DispatchTimeInterval.milliseconds(250)

    func abandoned(_ tickets: [Ticket]) -> Set<Ticket> {
        let workers = workers.withLock { $0 }
        let deadline = DispatchTime.now() + Self.checkTime
        let parts = split(tickets, workers.count) { $0.loop }
        var checks: [ConnectionCheck] = []
        for (worker, mine) in zip(workers, parts) where !mine.isEmpty {
            let check = ConnectionCheck(mine)
            checks.append(check)
            worker.loop.post { check.end(with: worker.value.log.abandoned(mine)) }
        }
        return Set(checks.flatMap { $0.wait(until: deadline) })
    }

    /// One loop's check of the connections of submissions. It is answered on the loop, and awaited on another thread.
    private final class ConnectionCheck: Sendable {
        private let found: Mutex<[Ticket]>
        private let isOver = DispatchSemaphore(value: 0)

        init(_ tickets: [Ticket]) {
            found = Mutex(tickets)
        }

        func end(with abandoned: [Ticket]) {
            found.withLock { $0 = abandoned }
            isOver.signal()
        }

        func wait(until deadline: DispatchTime) -> [Ticket] {
            _ = isOver.wait(timeout: deadline)
            return found.withLock { $0 }
        }
    }

    /// Sends notices to the loops with subscribers of their rooms. Each loop handles them in a later turn.
    func notify(_ notices: [EncodedNotice]) {
        let workers = workers.withLock { $0 }
        for (worker, wanted) in zip(workers, subscribedLoops.distribute(notices, loops: workers.count))
        where !wanted.isEmpty {
            worker.loop.post { worker.value.notify(wanted) }
        }
    }

    /// Sends notices to the loops with sockets that follow their users' rooms. Each loop handles them in a later turn.
    func notifyOwn(_ notices: [OwnNotice]) {
        let workers = workers.withLock { $0 }
        for (worker, wanted) in zip(workers, subscribedLoops.distribute(notices, loops: workers.count))
        where !wanted.isEmpty {
            worker.loop.post { worker.value.users.notify(wanted) }
        }
    }

    /// Passes notices of another node to one loop, which sends them to all loops with subscribers.
    func heard(_ notices: NodeNotices) {
        guard let worker = workers.withLock({ $0.first }) else { return }
        worker.loop.post { worker.value.heard(notices) }
    }

    /// Schedules a flush of presence, on one loop.
    func presenceChanged() {
        guard let worker = workers.withLock({ $0.first }) else { return }
        worker.loop.post { worker.value.presenceChanged() }
    }

    private func split<T>(_ items: [T], _ count: Int, by loop: (T) -> Int) -> [[T]] {
        guard count > 1 else { return count == 1 ? [items] : [] }
        var sizes = Array(repeating: 0, count: count)
        for index in items.indices { sizes[loop(items[index])] += 1 }
        var parts = sizes.map { size in
            var part: [T] = []
            part.reserveCapacity(size)
            return part
        }
        for index in items.indices { parts[loop(items[index])].append(items[index]) }
        return parts
    }
}
