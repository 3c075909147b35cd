import Commands
import Transport
import Wire

/// One run from the first connection to the verdict. It only coordinates; the loops do the work.
final class LoadRun {
    /// Time between two polls of the loops.
    private static let pollInterval = Duration.milliseconds(20)
    /// Time that a run continues after the server is gone, if connections are not replaced.
    private static let absencePatience = Duration.seconds(1)
    /// Time between telling the loops about a disturbance and its start.
    static let notice = Duration.milliseconds(50)
    /// Maximum wait at the end if the user interrupted the run.
    private static let interruptedDrain = Duration.seconds(2)
    /// Time without progress after which the wait for deliveries ends if some sends have an unknown fate.
    private static let quiet = Duration.milliseconds(300)

    let plan: Plan
    private let console: Console
    let group: LoopGroup
    let workers: [LoopBound<LoadWorker>]
    let clock = RunClock()
    var report: Report
    private var nextProgress: Int64 = 0
    private var lastShown: RunCounters?

    /// Prepares a run.
    ///
    /// - Throws: an error if the addresses do not resolve, or if the system does not provide enough descriptors.
    init(_ plan: Plan, console: Console) throws {
        self.plan = plan
        self.console = console
        let limit = raiseOpenFileLimit()
        guard limit >= plan.descriptors else {
            throw LoadError(
                "this needs \(NumberFormat.whole(plan.descriptors)) open files and the limit is \(NumberFormat.whole(limit)); "
                    + "raise it (ulimit -n) or use fewer subscribers")
        }
        reserveDescriptors(plan.descriptors)
        for process in plan.processes where !ProcessUsage.exists(process) {
            throw LoadError("--pid: there is no process \(process)")
        }
        for endpoint in [plan.subscribing?.endpoint, plan.publishing?.endpoint].compactMap(\.self) {
            try Reachability.check(endpoint)
        }
        let addresses = try LoadWorker.Addresses(plan)
        group = try LoopGroup(count: plan.loops)
        let clock = clock
        workers = group.loops.map { loop in
            LoopBound(LoadWorker(plan: plan, loop: loop, addresses: addresses, clock: clock), to: loop)
        }
        for worker in workers { worker.loop.post { [workers] in worker.value.prepare(peers: workers) } }
        report = Report(plan)
    }

    /// Executes the run.
    ///
    /// - Throws: ``LoadError`` if the run could not begin, for example because subscribers could not connect.
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
            report.verdict = Verdict(await collect { $0.record }, allowsAnyOrder: plan.allowsAnyOrder)
        }
        for worker in workers { await worker.perform { $0.audience?.sayGoodbye() } }
        // The Close frames are written by the time this round trip returns.
        for worker in workers { await worker.perform { $0.release() } }
        console.clear()
        return report
    }

    /// True once the user wants the run to end.
    private var isInterrupted: Bool { plan.heedsInterruption && Interruption.isRequested }

    // MARK: The phases

    func connect() async throws {
        guard plan.subscribers > 0 else { return }
        let begun = clock.now
        let patience = plan.patience(toConnect: plan.subscribers)
        while true {
            let counters = try await poll {
                "connecting: \(NumberFormat.whole($0.subscribers)) of \(NumberFormat.whole(self.plan.subscribers))"
            }
            if !counters.isConnecting { break }
            let isLate = clock.now - begun > patience.nanoseconds
            guard !isLate, !isInterrupted else {
                let why = isLate ? "within \(NumberFormat.fixed(patience.seconds, 0)) s" : "before the interruption"
                throw LoadError("only \(counters.subscribers) of \(plan.subscribers) subscribers were ready \(why)")
            }
        }
        let counters = await counters()
        report.connectSeconds = Double(clock.now - begun) / 1e9
        report.connected = counters.subscribers
        report.usage.connected = ProcessUsage.read(of: plan.processes)
        guard counters.subscribers == plan.subscribers else {
            let missing = plan.subscribers - counters.subscribers
            var lines = [
                "\(NumberFormat.whole(missing)) of \(NumberFormat.count(plan.subscribers, "subscriber")) could not connect:"
            ]
            lines += counters.failures.lines.map { "  " + $0 }
            throw LoadError(lines.joined(separator: "\n"))
        }
    }

    private func settle() async throws {
        let end = clock.now + plan.schedule.settle.nanoseconds
        while clock.now < end, !isInterrupted { _ = try await poll { _ in nil } }
        report.usage.settled = ProcessUsage.read(of: plan.processes)
    }

    private func load() async throws {
        let start = clock.now
        let measuredFrom = start + plan.schedule.warmup.nanoseconds
        // With a fixed number of messages all of them are measured, including the first.
        var first = await counters()
        var usage = readUsage()
        // All loops must know the start of the measurement before any of them sends.
        for worker in workers { await worker.perform { $0.measure(from: measuredFrom) } }
        for worker in workers { await worker.perform { $0.publishers?.start(at: start) } }
        let pacer = makePacer(start: start)
        pacer?.run()
        if plan.publishing?.count == nil {
            try await pollUntil(measuredFrom)
            first = await counters()
            usage = readUsage()
            // However late it starts, the measurement has its full duration.
            try await pollUntil(first.time + plan.schedule.measurement.nanoseconds)
        } else {
            try await pollUntil(.max)
        }
        report.measure(from: first, to: await counters())
        report.usage.measure(from: usage, to: readUsage())
        if let disturbance = plan.disturbance { try await disturb(disturbance) }
        pacer?.stop()
        for worker in workers { await worker.perform { $0.publishers?.stop() } }
        report.finish(try await drain())
    }

    private func makePacer(start: Int64) -> Pacer? {
        guard case .open(let perSecond) = plan.publishing?.pacing else { return nil }
        // Not the loops of a storm's clients, which send nothing, and are busy while thousands of clients connect.
        return Pacer(Array(workers.prefix(plan.threads)), clock: clock, start: start, perSecond: perSecond)
    }

    /// Returns the server's usage and this process's CPU seconds.
    private func readUsage() -> (ProcessUsage, Double) {
        (ProcessUsage.read(of: plan.processes), ProcessUsage.ownCPUSeconds)
    }

    /// Holds the connections without sending.
    func hold() async throws {
        let first = await counters()
        let usage = readUsage()
        try await pollUntil(clock.now + plan.schedule.measurement.nanoseconds)
        report.measure(from: first, to: await counters())
        report.usage.measure(from: usage, to: readUsage())
        // Wait for subscribers that are about to reconnect.
        report.finish(try await drain())
    }

    /// Polls until `time`, an interruption by the user, or the loss of all clients.
    func pollUntil(_ time: Int64) async throws {
        var absentSince: Int64?
        while clock.now < time, !isInterrupted {
            let counters = try await poll { self.progress($0) }
            if let count = plan.publishing?.count, counters.tally.finished >= count { return }
            let everyoneIsLost = plan.subscribers > 0 && counters.lostSubscribers == plan.subscribers
            let nobodyIsThere = plan.publishing != nil && counters.isDisconnected && !counters.failures.isEmpty
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
        if isInterrupted { report.endedEarly = "it was interrupted" }
    }

    /// Waits for outstanding answers and deliveries as long as there is progress.
    private func drain() async throws -> RunCounters {
        var last = await counters()
        var progressAt = clock.now
        while clock.now - progressAt < drainPatience {
            let counters = try await poll { self.progress($0) }
            if counters.tally.progress != last.tally.progress { progressAt = clock.now }
            last = counters
            guard counters.outstanding == 0, !counters.isConnecting, counters.isLevel else { continue }
            // Messages that have not reached every loop arrive within moments.
            let isSettled = await isComplete()
            if isSettled || clock.now - progressAt > Self.quiet.nanoseconds && counters.tally.cut > 0 { break }
        }
        return await counters()
    }

    private var drainPatience: Int64 {
        let patience = plan.schedule.drain.nanoseconds
        return isInterrupted ? min(patience, Self.interruptedDrain.nanoseconds) : patience
    }

    /// Returns true if each listening loop has received every room's acknowledged messages.
    private func isComplete() async -> Bool {
        let records = await collect { $0.record }
        guard records.allSatisfy({ $0.sent.unknown == 0 }) else { return false }
        return records.allSatisfy { record in
            record.ledger.rooms.indices.allSatisfy { room in
                let acknowledged = records.reduce(0) { $0 + $1.sent.acknowledged[room] }
                return record.ledger.rooms[room].subscribers == 0
                    || record.ledger.rooms[room].order.count >= acknowledged
            }
        }
    }

    // MARK: Polling

    func poll(_ text: (RunCounters) -> String?) async throws -> RunCounters {
        for worker in workers { worker.loop.post { worker.value.tick() } }
        try await Task.sleep(for: Self.pollInterval)
        let showsProgress = clock.now >= nextProgress
        let counters = showsProgress ? await counters() : sum(await collect { $0.glance })
        if showsProgress {
            nextProgress = clock.now + 1_000_000_000
            if let text = text(counters) { console.progress(text) }
            lastShown = counters
        }
        return counters
    }

    func progress(_ counters: RunCounters) -> String? {
        guard let lastShown else { return nil }
        return ProgressLine(plan: plan, from: lastShown, to: counters).text
    }

    func counters() async -> RunCounters {
        sum(await collect { $0.counters })
    }

    private func sum(_ all: [RunCounters]) -> RunCounters {
        all.dropFirst().reduce(all[0]) { $0 + $1 }
    }

    func collect<Value: Sendable>(_ value: @escaping @Sendable (LoadWorker) -> Value) async -> [Value] {
        var values: [Value] = []
        for worker in workers { values.append(await worker.perform(value)) }
        return values
    }
}

extension LoopBound {
    /// Calls `body` with the value on its loop, and returns its result.
    func perform<Result: Sendable>(_ body: @escaping @Sendable (Value) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            loop.post { continuation.resume(returning: body(value)) }
        }
    }
}
