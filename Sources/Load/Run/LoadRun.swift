import Transport

/// One run from the first connection to the verdict. It only directs: what is done is done on the loops.
final class LoadRun {
    /// How often the loops are looked at.
    private static let pollInterval = Duration.milliseconds(20)
    /// How long a run goes on when the server has gone and connections are not made anew.
    private static let absencePatience = Duration.seconds(1)
    /// How long before a disturbance the loops hear of it.
    static let notice = Duration.milliseconds(50)
    /// How long, at most, is waited at the end when the user wants it to end.
    private static let interruptedDrain = Duration.seconds(2)
    /// What must pass without a delivery when some sends have an unknown fate.
    private static let quiet = Duration.milliseconds(300)

    let plan: Plan
    private let console: Console
    let group: LoopGroup
    let workers: [LoopBound<Worker>]
    let clock = RunClock()
    var report: Report
    private var nextProgress: Int64 = 0
    private var lastShown: Snapshot?

    /// Prepares a run.
    ///
    /// - Throws: when the addresses do not resolve, or the system does not give as many descriptors as are needed.
    init(_ plan: Plan, console: Console) throws {
        self.plan = plan
        self.console = console
        let limit = raiseOpenFileLimit()
        guard limit >= plan.descriptors else {
            throw LoadError(
                "this needs \(Figure.whole(plan.descriptors)) open files and the limit is \(Figure.whole(limit)); "
                    + "raise it (ulimit -n) or use fewer subscribers")
        }
        reserveDescriptors(plan.descriptors)
        for process in plan.processes where !ProcessUsage.exists(process) {
            throw LoadError("--pid: there is no process \(process)")
        }
        for endpoint in [plan.subscribing?.endpoint, plan.publishing?.endpoint].compactMap(\.self) {
            try Reachability.check(endpoint)
        }
        let addresses = try Worker.Addresses(plan)
        group = try LoopGroup(count: plan.loops)
        let clock = clock
        workers = group.loops.map { loop in
            LoopBound(Worker(plan: plan, loop: loop, addresses: addresses, clock: clock), to: loop)
        }
        for worker in workers { worker.loop.post { [workers] in worker.value.prepare(peers: workers) } }
        report = Report(plan)
    }

    /// Runs.
    ///
    /// - Throws: ``LoadError`` when it could not begin, because subscribers could not connect for example.
    func run() async throws -> Report {
        defer { group.stop() }
        report.usage.base = ProcessUsage.read(of: plan.processes)
        try await connect()
        try await settle()
        if plan.publishing != nil {
            try await load()
        } else {
            try await hold()
        }
        if plan.publishing?.sendsMessages == true {
            report.verdict = Verdict(await collect { $0.account }, allowsAnyOrder: plan.allowsAnyOrder)
        }
        for worker in workers { await worker.perform { $0.audience?.sayGoodbye() } }
        // The frames are written when this has come round.
        for worker in workers { await worker.perform { $0.release() } }
        console.clear()
        return report
    }

    // MARK: The phases

    func connect() async throws {
        guard plan.subscribers > 0 else { return }
        let begun = clock.now
        let patience = plan.patience(toConnect: plan.subscribers)
        while true {
            let snapshot = try await poll {
                "connecting: \(Figure.whole($0.subscribers)) of \(Figure.whole(self.plan.subscribers))"
            }
            if !snapshot.isConnecting { break }
            let isLate = clock.now - begun > patience.nanoseconds
            guard !isLate, !Interruption.isRequested else {
                let why = isLate ? "within \(Figure.fixed(patience.seconds, 0)) s" : "before the interruption"
                throw LoadError("only \(snapshot.subscribers) of \(plan.subscribers) subscribers were ready \(why)")
            }
        }
        let snapshot = await snapshot()
        report.connectSeconds = Double(clock.now - begun) / 1e9
        report.connected = snapshot.subscribers
        report.usage.connected = ProcessUsage.read(of: plan.processes)
        guard snapshot.subscribers == plan.subscribers else {
            let missing = plan.subscribers - snapshot.subscribers
            var lines = [
                "\(Figure.whole(missing)) of \(Figure.count(plan.subscribers, "subscriber")) could not connect:"
            ]
            lines += snapshot.failures.lines.map { "  " + $0 }
            throw LoadError(lines.joined(separator: "\n"))
        }
    }

    private func settle() async throws {
        let end = clock.now + plan.schedule.settle.nanoseconds
        while clock.now < end, !Interruption.isRequested { _ = try await poll { _ in nil } }
        report.usage.settled = ProcessUsage.read(of: plan.processes)
    }

    private func load() async throws {
        let start = clock.now
        let measuredFrom = start + plan.schedule.warmup.nanoseconds
        // All of a number of messages are measured, the first ones too.
        var first = await snapshot()
        var usage = (ProcessUsage.read(of: plan.processes), ProcessUsage.ownCPUSeconds)
        // All loops know from when on they are to measure before any of them sends.
        for worker in workers { await worker.perform { $0.measure(from: measuredFrom) } }
        for worker in workers { await worker.perform { $0.publishers?.start(at: start) } }
        let pacer = makePacer(start: start)
        pacer?.run()
        if plan.publishing?.count == nil {
            try await pollUntil(measuredFrom)
            first = await snapshot()
            usage = (ProcessUsage.read(of: plan.processes), ProcessUsage.ownCPUSeconds)
            // However late it is: what is measured is as long as it should be.
            try await pollUntil(first.time + plan.schedule.measurement.nanoseconds)
        } else {
            try await pollUntil(.max)
        }
        report.measure(from: first, to: await snapshot())
        report.usage.measure(from: usage, to: (ProcessUsage.read(of: plan.processes), ProcessUsage.ownCPUSeconds))
        if let disturbance = plan.disturbance { try await disturb(disturbance) }
        pacer?.stop()
        for worker in workers { await worker.perform { $0.publishers?.stop() } }
        report.finish(try await drain())
    }

    private func makePacer(start: Int64) -> Pacer? {
        guard case .open(let perSecond) = plan.publishing?.pacing else { return nil }
        return Pacer(workers, clock: clock, start: start, perSecond: perSecond)
    }

    /// Holds the connections only.
    func hold() async throws {
        let first = await snapshot()
        let usage = (ProcessUsage.read(of: plan.processes), ProcessUsage.ownCPUSeconds)
        try await pollUntil(clock.now + plan.schedule.measurement.nanoseconds)
        let last = await snapshot()
        report.measure(from: first, to: last)
        report.usage.measure(from: usage, to: (ProcessUsage.read(of: plan.processes), ProcessUsage.ownCPUSeconds))
        // Those that are about to connect again are waited for.
        report.finish(try await drain())
    }

    /// Polls until `time`, or the user interrupts, or there is nobody left to load.
    func pollUntil(_ time: Int64) async throws {
        var absentSince: Int64?
        while clock.now < time, !Interruption.isRequested {
            let snapshot = try await poll { self.progress($0) }
            if let count = plan.publishing?.count, snapshot.tally.finished >= count { return }
            let everyoneIsLost = plan.subscribers > 0 && snapshot.lostSubscribers == plan.subscribers
            let nobodyIsThere = plan.publishing != nil && snapshot.isDisconnected && !snapshot.failures.isEmpty
            guard !plan.reconnects, everyoneIsLost || nobodyIsThere else {
                absentSince = nil
                continue
            }
            absentSince = absentSince ?? clock.now
            if clock.now - (absentSince ?? 0) > Self.absencePatience.nanoseconds {
                report.endedEarly = everyoneIsLost ? "every subscriber was lost" : "the server was gone"
                return
            }
        }
        if Interruption.isRequested { report.endedEarly = "it was interrupted" }
    }

    /// Waits for answers and deliveries that are outstanding, as long as some still come.
    private func drain() async throws -> Snapshot {
        var last = await snapshot()
        var progressAt = clock.now
        while clock.now - progressAt < drainPatience {
            let snapshot = try await poll { self.progress($0) }
            if snapshot.tally.progress != last.tally.progress { progressAt = clock.now }
            last = snapshot
            guard snapshot.outstanding == 0, !snapshot.isConnecting, snapshot.isLevel else { continue }
            // What only some loops have seen, or nobody yet, comes within moments.
            let isSettled = await isComplete()
            if isSettled || clock.now - progressAt > Self.quiet.nanoseconds && snapshot.tally.cut > 0 { break }
        }
        return await snapshot()
    }

    private var drainPatience: Int64 {
        let patience = plan.schedule.drain.nanoseconds
        return Interruption.isRequested ? min(patience, Self.interruptedDrain.nanoseconds) : patience
    }

    /// Whether every room's acknowledged messages have been seen on each loop that listens to it.
    private func isComplete() async -> Bool {
        let accounts = await collect { $0.account }
        guard accounts.allSatisfy({ $0.sent.unknown == 0 }) else { return false }
        return accounts.allSatisfy { account in
            account.ledger.rooms.indices.allSatisfy { room in
                let acknowledged = accounts.reduce(0) { $0 + $1.sent.acknowledged[room] }
                return account.ledger.rooms[room].subscribers == 0
                    || account.ledger.rooms[room].order.count >= acknowledged
            }
        }
    }

    // MARK: Looking

    func poll(_ text: (Snapshot) -> String?) async throws -> Snapshot {
        for worker in workers { worker.loop.post { worker.value.tick() } }
        try await Task.sleep(for: Self.pollInterval)
        let showsProgress = clock.now >= nextProgress
        let snapshot = showsProgress ? await snapshot() : sum(await collect { $0.glance })
        if showsProgress {
            nextProgress = clock.now + 1_000_000_000
            if let text = text(snapshot) { console.progress(text) }
            lastShown = snapshot
        }
        return snapshot
    }

    func progress(_ snapshot: Snapshot) -> String? {
        guard let lastShown else { return nil }
        return ProgressLine(plan: plan, from: lastShown, to: snapshot).text
    }

    func snapshot() async -> Snapshot {
        sum(await collect { $0.snapshot })
    }

    private func sum(_ all: [Snapshot]) -> Snapshot {
        all.dropFirst().reduce(all[0]) { $0 + $1 }
    }

    func collect<Value: Sendable>(_ value: @escaping @Sendable (Worker) -> Value) async -> [Value] {
        var values: [Value] = []
        for worker in workers { values.append(await worker.perform(value)) }
        return values
    }
}

extension LoopBound {
    /// Calls `body` with the value, on its loop, and gives what it returns.
    func perform<Result: Sendable>(_ body: @escaping @Sendable (Value) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            loop.post { continuation.resume(returning: body(value)) }
        }
    }
}

extension Worker.Addresses {
    /// Looks the plan's hosts up.
    fileprivate init(_ plan: Plan) throws(TransportError) {
        func resolve(_ endpoint: Endpoint?) throws(TransportError) -> Destination? {
            guard let endpoint else { return nil }
            return try Destination(endpoint, trust: plan.trust)
        }
        self.init(
            subscribers: try resolve(plan.subscribing?.endpoint), publishers: try resolve(plan.publishing?.endpoint))
    }
}
