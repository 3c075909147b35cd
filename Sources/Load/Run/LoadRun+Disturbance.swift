import Commands
import Wire

extension LoadRun {
    /// Runs a disturbance after the measurement, and measures the clients that take no part in it.
    func disturb(_ disturbance: Plan.Disturbance) async throws {
        guard report.endedEarly == nil else { return }
        var outcome = DisturbanceReport(disturbance)
        let begun = try await announce()
        let before = ProcessUsage.read(of: plan.processes)
        switch disturbance {
        case .storm:
            let history = History(await collect { $0.audience?.ledger }.compactMap(\.self))
            for worker in workers { await worker.perform { $0.audience?.beginStorm(after: history) } }
            try await pollUntilConnected(since: begun)
        case .stall(_, let duration):
            for worker in workers { await worker.perform { $0.audience?.stall(true) } }
            try await pollUntil(begun + duration.nanoseconds)
        }
        let after = ProcessUsage.read(of: plan.processes)
        outcome.seconds = Double(clock.now - begun) / 1e9
        outcome.serverSeconds = after.cpuSeconds - before.cpuSeconds
        outcome.memoryGrowth = after.memory - before.memory
        for worker in workers { await worker.perform { $0.audience?.stall(false) } }
        report.disturbance = outcome
    }

    /// Tells every loop when the disturbance starts, before any of its messages is due.
    ///
    /// - Returns: the start, which is the current time.
    private func announce() async throws -> Int64 {
        while true {
            let begin = clock.now + Self.notice.nanoseconds
            for worker in workers { await worker.perform { $0.expectDisturbance(at: begin) } }
            let left = begin - clock.now
            guard left > 0 else { continue }
            try await Task.sleep(for: .nanoseconds(left))
            return begin
        }
    }

    /// Waits until the storm's clients have connected or failed.
    private func pollUntilConnected(since begun: Int64) async throws {
        let patience = plan.patience(toConnect: plan.storming).nanoseconds
        while clock.now - begun < patience, !Interruption.isRequested {
            let counters = try await poll { self.progress($0) }
            if !counters.isConnecting { return }
        }
        report.endedEarly = Interruption.isRequested ? "it was interrupted" : "the storm's clients did not all connect"
    }
}
