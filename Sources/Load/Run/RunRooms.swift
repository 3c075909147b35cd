import Commands

/// The rooms of a run with `--clean-up`: one user, their owner, creates them before the run and deletes them after it.
struct RunRooms {
    private let making: Plan
    private let deleting: Plan
    private let console: Console

    /// Describes the rooms of the run with this number.
    ///
    /// - Throws: an error that names the invalid option.
    init(_ builder: PlanBuilder, run: Int64, console: Console) throws(LoadError) {
        making = try builder.roomRequests("PUT", run: run)
        deleting = try builder.roomRequests("DELETE", run: run)
        self.console = console
    }

    /// Creates all rooms.
    ///
    /// - Throws: ``LoadError`` if one cannot be created.
    func make() async throws {
        let report = try await LoadRun(making, console: console).run()
        guard !report.isGood else { return }
        throw LoadError(
            (["--clean-up: the rooms cannot be made"] + report.failures.lines).joined(separator: "\n  "))
    }

    /// Deletes all rooms, even if the user has interrupted the run.
    ///
    /// - Throws: ``LoadError`` if one cannot be deleted.
    func delete() async throws {
        let report = try await LoadRun(deleting, console: console).run()
        let rooms = NumberFormat.count(deleting.rooms, "room")
        guard report.isGood else {
            let deleted = NumberFormat.whole(report.total.acknowledged)
            throw LoadError(
                (["--clean-up: only \(deleted) of \(rooms) could be deleted"] + report.failures.lines)
                    .joined(separator: "\n  "))
        }
        console.note("deleted \(rooms)")
    }
}

extension PlanBuilder {
    /// Number of connections that create or delete rooms.
    private static let roomConnections = 16

    /// Returns a plan with one request for each room of the run with this number.
    func roomRequests(_ method: String, run: Int64) throws(LoadError) -> Plan {
        let run = try plan(run: run)
        guard let server, templates.isOwn, load.room == nil else {
            throw LoadError("--clean-up deletes only the run's own rooms; leave out --room, --ws and --post")
        }
        var endpoint = try Endpoint(server, schemes: ["http", "https"], source: "the server's address")
        endpoint.target = Backscroll.base(endpoint) + Backscroll.ownRoom(hasToken: templates.hasToken)
        var plan = Plan(run: run.run, server: run.server)
        plan.rooms = run.rooms
        plan.activeRooms = run.rooms
        plan.trust = run.trust
        plan.schedule = Plan.Schedule(settle: .zero, warmup: .zero, measurement: .zero, drain: run.schedule.drain)
        plan.reconnects = true
        plan.heedsInterruption = false
        plan.publishing = Plan.Publishing(
            endpoint: endpoint,
            request: try RequestTemplate(
                method: method, endpoint: endpoint, headers: templates.headers, body: method == "PUT" ? "{}" : nil,
                size: 0),
            sendsMessages: false, inFlight: min(Self.roomConnections, run.rooms),
            pacing: .closed(awaitsDeliveries: false), random: 0...0, count: run.rooms)
        return plan
    }
}
