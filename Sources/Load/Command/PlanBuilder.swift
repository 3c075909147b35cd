import Transport

/// Builds a plan from options, or reports which option is wrong.
struct PlanBuilder {
    /// Default patience at the end with `--reconnect`, in seconds: a server may take time to restart.
    static let reconnectDrain = 30.0

    let server: String?
    let load: LoadArguments
    let disturbances: DisturbanceArguments
    private let timing: TimingArguments
    let templates: TemplateArguments
    private let tool: ToolArguments

    init(_ command: LoadCommand) {
        server = command.server
        load = command.load
        disturbances = command.disturbances
        timing = command.timing
        templates = command.templates
        tool = command.tool
    }

    /// Returns the plan.
    ///
    /// - Parameter run: the run's number, different each time.
    /// - Throws: an error that names the invalid option.
    func plan(run: Int64) throws(LoadError) -> Plan {
        try NumberBounds.check(load)
        try NumberBounds.check(disturbances)
        try NumberBounds.check(timing)
        try NumberBounds.check(tool)
        let isRead = templates.method == "GET" || load.pages != nil
        let subscribers = load.subscribers ?? (isRead || !templates.isOwn && templates.ws == nil ? 0 : 100)
        var plan = Plan(run: run, server: server ?? templates.post ?? templates.ws ?? "")
        plan.subscribers = subscribers
        plan.rooms = load.rooms
        plan.activeRooms = load.activeRooms ?? load.rooms
        plan.threads = tool.threads
        plan.size = load.size
        plan.reconnects = load.reconnect
        plan.allowsAnyOrder = templates.anyOrder
        plan.processes = try processes()
        plan.trust = try trust()
        plan.schedule = schedule
        guard !templates.isOwn || server != nil else {
            throw LoadError("say which server: its address, or --ws and --post; see --help")
        }
        if load.reconnect, !templates.isOwn {
            throw LoadError("--reconnect: only Backscroll's own API can resume; leave out --ws and --post")
        }
        try checkOwn()
        plan.disturbance = try disturbance(subscribers: subscribers)
        if subscribers > 0 { plan.subscribing = try subscribing() }
        if !load.idle, let publishing = try publishing(hasSubscribers: subscribers > 0) {
            plan.publishing = publishing
            plan.threads = min(plan.threads, max(publishing.inFlight, subscribers))
        }
        guard plan.subscribing != nil || plan.publishing != nil else {
            throw LoadError("there is nothing to do: no subscribers and no requests")
        }
        return plan
    }

    private var schedule: Plan.Schedule {
        Plan.Schedule(
            connectBurst: tool.connectBurst, connectRate: tool.connectRate, settle: .seconds(timing.settle),
            warmup: load.messages == nil || load.pages != nil ? .seconds(timing.warmup) : .zero,
            measurement: .seconds(timing.seconds),
            drain: .seconds(timing.drain ?? (load.reconnect ? Self.reconnectDrain : 5)))
    }

    /// Checks the options that only Backscroll's own API supports.
    private func checkOwn() throws(LoadError) {
        if let room = load.room, load.rooms > 1 {
            throw LoadError("--room \(room) names a single room; leave out --rooms \(load.rooms)")
        }
        if load.pages != nil, load.room == nil { throw LoadError("--pages needs --room") }
        if load.pages == .random, load.messages ?? 0 < Backscroll.pageSize {
            throw LoadError(
                "--pages random needs --messages, the number of messages in the room, at least \(Backscroll.pageSize)")
        }
        let own = [
            ("--room", load.room != nil), ("--pages", load.pages != nil), ("--storm", disturbances.storm != nil),
        ]
        for (name, isGiven) in own where isGiven && !templates.isOwn {
            throw LoadError("\(name): only with Backscroll's own API; leave out --ws and --post")
        }
        for (name, isGiven) in [("--ws-stream", templates.wsStream), ("--any-order", templates.anyOrder)]
        where isGiven && templates.ws == nil {
            throw LoadError("\(name): only with --ws")
        }
        if disturbances.storm != nil, load.room != nil {
            throw LoadError("--storm: the room must be the run's own; leave out --room")
        }
    }

    private func subscribing() throws(LoadError) -> Plan.Subscribing {
        let address: String
        if let ws = templates.ws {
            address = ws
        } else if let server, templates.isOwn {
            let web = try Endpoint(server, schemes: ["http", "https"], source: "the server's address")
            let path = Backscroll.live(in: load.room ?? Backscroll.room, hasToken: templates.hasToken)
            address = "\(web.isSecure ? "wss" : "ws")://\(web.authority)\(Backscroll.base(web))\(path)"
        } else {
            throw LoadError("--ws is missing: the address that subscribers connect to")
        }
        let endpoint = try Endpoint(address, schemes: ["ws", "wss"], source: "--ws")
        let allowed: Set<Template.Placeholder> = [.room, .conn, .run]
        var headers = ""
        for header in templates.headers { headers += try RequestTemplate.line(header) }
        var hello: [Template] = []
        for text in templates.hello { hello.append(try Template(text, source: "--hello", allowed: allowed)) }
        let ready = templates.ready ?? (templates.isOwn ? Backscroll.ready : "")
        return Plan.Subscribing(
            endpoint: endpoint, target: try Template(endpoint.target, source: "--ws", allowed: allowed),
            headers: try Template(headers, source: "--header", allowed: allowed), protocols: templates.wsProtocols,
            hello: hello, ready: ready.isEmpty ? nil : Array(ready.utf8), isStream: templates.wsStream)
    }

    private func processes() throws(LoadError) -> [Int] {
        try (tool.pid ?? "").split(separator: ",").map { part throws(LoadError) -> Int in
            guard let process = Int(part), process > 0 else { throw LoadError("--pid: '\(part)' is not a process id") }
            return process
        }
    }

    private func trust() throws(LoadError) -> ClientTLS.Trust {
        guard tool.insecure else { return tool.tlsCa.map { .file($0) } ?? .system }
        guard tool.tlsCa == nil else { throw LoadError("--insecure and --tls-ca exclude each other") }
        return .anyone
    }
}
