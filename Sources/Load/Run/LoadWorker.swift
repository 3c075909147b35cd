import Transport

/// One loop's share of a run: some of the subscribers and publishers, or some of a storm's clients.
///
/// Use it on its loop only. Workers refer to each other to report which messages have reached all of their subscribers.
final class LoadWorker {
    let audience: Audience?
    let publishers: Publishers?
    /// All workers, indexed by the number of their loop; set before the run begins.
    private var peers: [LoopBound<LoadWorker>] = []

    /// True if it has only clients of the storm.
    private let isStorm: Bool
    private let plan: Plan
    private let loop: Loop
    private let clock: RunClock
    /// The messages to report at the end of this turn, by the number of the loop that sent them.
    private var completed: [[(room: Int, number: Int)]]
    private var hasCompleted = false

    init(plan: Plan, loop: Loop, addresses: Addresses, clock: RunClock) {
        self.plan = plan
        self.loop = loop
        self.clock = clock
        isStorm = plan.isOfStorm(loop: loop.index)
        completed = Array(repeating: [], count: plan.threads)
        if let subscribing = plan.subscribing, let destination = addresses.subscribers {
            audience = Audience(
                plan: plan, subscribing: subscribing, loop: loop, destination: destination, clock: clock)
        } else {
            audience = nil
        }
        if !isStorm, let publishing = plan.publishing, let destination = addresses.publishers {
            publishers = Publishers(
                plan: plan, publishing: publishing, loop: loop, destination: destination, clock: clock)
        } else {
            publishers = nil
        }
    }

    /// The resolved addresses of a run.
    struct Addresses: Sendable {
        let subscribers: Destination?
        let publishers: Destination?

        /// Resolves the plan's hosts.
        init(_ plan: Plan) throws(TransportError) {
            subscribers = try plan.subscribing.map { part throws(TransportError) in
                try Destination(part.endpoint, trust: plan.trust)
            }
            publishers = try plan.publishing.map { part throws(TransportError) in
                try Destination(part.endpoint, trust: plan.trust)
            }
        }
    }

    /// Connects the parts. Call it on the loop before anything else.
    func prepare(peers: [LoopBound<LoadWorker>]) {
        self.peers = peers
        // A message counts as delivered when the initial subscribers have it, so a storm's clients are not included.
        guard !isStorm else { return }
        audience?.onComplete = { [unowned self] room, number in complete(room: room, number: number) }
        audience?.onLoss = { [unowned self] in tellOfLoss() }
        if plan.threads > 1 { loop.atEndOfTurn { [unowned self] in tellPeers() } }
    }

    /// Releases the peers at the end of the run.
    func release() {
        peers = []
    }

    private func complete(room: Int, number: Int) {
        let origin = number % plan.sendingLoops
        if origin == loop.index {
            publishers?.delivered(room: room, number: number)
        } else if case .closed(awaitsDeliveries: true) = plan.publishing?.pacing {
            completed[origin].append((room, number))
            hasCompleted = true
        }
    }

    private func tellPeers() {
        guard hasCompleted else { return }
        hasCompleted = false
        for peer in peers.prefix(plan.threads) where !completed[peer.loop.index].isEmpty {
            let messages = completed[peer.loop.index]
            completed[peer.loop.index] = []
            peer.loop.post {
                for (room, number) in messages { peer.value.publishers?.delivered(room: room, number: number) }
            }
        }
    }

    private func tellOfLoss() {
        for peer in peers { peer.loop.post { peer.value.publishers?.stopAwaitingDeliveries() } }
    }

    func tick() {
        audience?.connectMore()
        publishers?.tick()
    }

    /// Sets the start of the measurement.
    func measure(from time: Int64) {
        audience?.measuredFrom = time
        publishers?.measuredFrom = time
    }

    /// Sets the start of the disturbance. It may be postponed while it is still in the future.
    func expectDisturbance(at time: Int64) {
        audience?.expectDisturbance(at: time)
        publishers?.expectDisturbance(at: time)
    }

    /// The current counters, with the latencies.
    var counters: RunCounters {
        var counters = glance
        if let audience {
            counters.delivery = audience.latency
            counters.disturbedDelivery = audience.disturbedLatency
            counters.catchUp = audience.catchUp
        }
        if let publishers {
            counters.answer = publishers.latency
            counters.disturbedAnswer = publishers.disturbedLatency
        }
        return counters
    }

    /// The current counters without the latencies. Holding a copy of the histograms would make the next delivery copy
    /// them.
    var glance: RunCounters {
        var counters = RunCounters(time: clock.now)
        if let audience {
            counters.tally.deliveries = audience.ledger.deliveries
            counters.tally.resumed = audience.resumed
            counters.subscribers = audience.ready
            counters.failedSubscribers = audience.failed
            counters.lostSubscribers = audience.lost.count
            counters.isConnecting = !audience.isSettled
            counters.isLevel = audience.isLevel
            counters.failures.add(audience.failures)
        }
        if let publishers {
            counters.tally = counters.tally + publishers.tally
            counters.outstanding = publishers.outstanding
            counters.backlog = publishers.backlog
            counters.isDisconnected = publishers.isDisconnected
            counters.failures.add(publishers.failures)
        }
        return counters
    }

    var record: LoopRecord {
        LoopRecord(
            sent: publishers?.log ?? SendLog(loop: loop.index, loops: plan.sendingLoops, rooms: plan.rooms),
            ledger: audience?.ledger ?? Ledger(run: plan.run, rooms: plan.rooms),
            lost: audience?.lostAtEnd ?? [:])
    }
}
