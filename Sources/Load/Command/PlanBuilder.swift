/// Makes a plan of options, or says what is wrong with them.
struct PlanBuilder {
    /// What `--reconnect` waits for at the end, by default: a server that starts anew may take its time.
    static let reconnectDrain = 30.0

    private let options: LoadOptions
    private let isOwn: Bool

    /// A builder for these options.
    init(_ options: LoadOptions) {
        self.options = options
        isOwn = options.ws == nil && options.post == nil
    }

    /// Makes the plan.
    ///
    /// - Parameter run: the run's number, another one each time.
    /// - Throws: an error that names the option which cannot be used.
    func plan(run: Int64) throws(LoadError) -> Plan {
        try checkNumbers()
        let subscribers = options.subscribers ?? (options.method == "GET" || !isOwn && options.ws == nil ? 0 : 100)
        var plan = Plan(run: run, server: options.server ?? options.post ?? options.ws ?? "")
        plan.subscribers = subscribers
        plan.rooms = options.rooms
        plan.activeRooms = options.activeRooms ?? options.rooms
        plan.threads = options.threads
        plan.size = options.size
        plan.reconnects = options.reconnect
        plan.processes = options.processes
        plan.schedule = schedule
        guard !isOwn || options.server != nil else {
            throw LoadError("say which server: its address, or --ws and --post; see --help")
        }
        if options.reconnect, !isOwn {
            throw LoadError("--reconnect: only Backscroll's own API can resume; leave out --ws and --post")
        }
        if subscribers > 0 { plan.subscribing = try subscribing() }
        if !options.isIdle, let publishing = try publishing(hasSubscribers: subscribers > 0) {
            plan.publishing = publishing
            plan.threads = min(plan.threads, max(publishing.inFlight, subscribers))
        }
        guard plan.subscribing != nil || plan.publishing != nil else {
            throw LoadError("there is nothing to do: no subscribers and no requests")
        }
        return plan
    }

    private func checkNumbers() throws(LoadError) {
        func check(_ isGood: Bool, _ text: String) throws(LoadError) {
            if !isGood { throw LoadError(text) }
        }
        try check((options.subscribers ?? 0) >= 0, "--subscribers must not be negative")
        try check(options.rooms >= 1, "--rooms must be 1 at least")
        let activeRooms = options.activeRooms ?? 1
        try check((1...options.rooms).contains(activeRooms), "--active-rooms must be 1 to \(options.rooms), the rooms")
        try check((1...10_000).contains(options.inFlight), "--in-flight must be 1 to 10000")
        try check((options.rate ?? 1) > 0 && (options.rate ?? 1) <= 1e6, "--rate must be more than 0, 1000000 at most")
        try check((0...1 << 20).contains(options.size), "--size must be 0 to 1048576 bytes")
        try check(options.seconds > 0 && options.seconds <= 86_400, "--seconds must be more than 0, 86400 at most")
        for (name, value) in [("warmup", options.warmup), ("settle", options.settle), ("drain", options.drain ?? 0)] {
            try check((0...86_400).contains(value), "--\(name) must be 0 to 86400 seconds")
        }
        try check(options.connectBurst >= 1, "--connect-burst must be 1 at least")
        try check((options.connectRate ?? 1) > 0, "--connect-rate must be more than 0")
        try check((1...64).contains(options.threads), "--threads must be 1 to 64")
        try check(options.processes.allSatisfy { $0 > 0 }, "--pid: a process number is more than 0")
    }

    private var schedule: Plan.Schedule {
        var schedule = Plan.Schedule()
        schedule.connectBurst = options.connectBurst
        schedule.connectRate = options.connectRate
        schedule.settle = .seconds(options.settle)
        schedule.warmup = .seconds(options.warmup)
        schedule.measurement = .seconds(options.seconds)
        schedule.drain = .seconds(options.drain ?? (options.reconnect ? Self.reconnectDrain : 5))
        return schedule
    }

    private func subscribing() throws(LoadError) -> Plan.Subscribing {
        let address: String
        if let ws = options.ws {
            address = ws
        } else if let server = options.server, isOwn {
            let web = try Endpoint(server, schemes: ["http"], source: "the server's address")
            address = "ws://\(web.authority)\(Backscroll.base(web))\(Backscroll.live(hasToken: hasToken))"
        } else {
            throw LoadError("--ws is missing: where are the subscribers to connect to?")
        }
        let endpoint = try Endpoint(address, schemes: ["ws"], source: "--ws")
        let allowed: Set<Template.Placeholder> = [.room, .conn, .run]
        var headers = ""
        for header in options.headers { headers += try RequestTemplate.line(header) }
        var hello: [Template] = []
        for text in options.hello { hello.append(try Template(text, source: "--hello", allowed: allowed)) }
        let ready = options.ready ?? (isOwn ? Backscroll.ready : "")
        return Plan.Subscribing(
            endpoint: endpoint, target: try Template(endpoint.target, source: "--ws", allowed: allowed),
            headers: try Template(headers, source: "--header", allowed: allowed), protocols: options.wsProtocols,
            hello: hello, ready: ready.isEmpty ? nil : Array(ready.utf8))
    }

    private func publishing(hasSubscribers: Bool) throws(LoadError) -> Plan.Publishing? {
        let address: String
        var body = options.body
        if let post = options.post {
            address = post
        } else if let server = options.server, isOwn {
            let web = try Endpoint(server, schemes: ["http"], source: "the server's address")
            address = "http://\(web.authority)\(Backscroll.base(web))\(Backscroll.messages(hasToken: hasToken))"
            body = body ?? Backscroll.body
        } else {
            return nil
        }
        let endpoint = try Endpoint(address, schemes: ["http"], source: "--post")
        let isRead = ["GET", "HEAD", "OPTIONS"].contains(options.method)
        guard options.method != "HEAD" else { throw LoadError("--method: HEAD has no content to wait for; use GET") }
        if isRead, hasSubscribers { throw LoadError("--method \(options.method) sends nothing to --subscribers") }
        if isRead { body = options.body } else { body = body ?? #"{"text":"{mark}{pad}"}"# }
        if hasSubscribers, let body, !body.contains("{mark}") {
            throw LoadError("--body lacks {mark}, by which subscribers recognise messages")
        }
        let awaits = options.until == .delivered
        return Plan.Publishing(
            endpoint: endpoint,
            request: try RequestTemplate(
                method: options.method, endpoint: endpoint, headers: options.headers, body: body, size: options.size),
            sendsMessages: !isRead, inFlight: options.inFlight,
            pacing: options.rate.map { .open(perSecond: $0) } ?? .closed(awaitsDeliveries: awaits),
            random: try random())
    }

    private var hasToken: Bool {
        options.headers.contains { $0.lowercased().hasPrefix("authorization:") }
    }

    private func random() throws(LoadError) -> ClosedRange<Int64> {
        guard let text = options.random else { return 0...Int64(UInt32.max) }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let low = Int64(parts[0]), let high = Int64(parts[1]), low <= high else {
            throw LoadError("--rand: '\(text)' is not LOW:HIGH, such as 1:1000000")
        }
        return low...high
    }
}

/// The templates of Backscroll's own API.
enum Backscroll {
    /// What the last of a subscription's first frames has in it.
    static let ready = #""type":"live""#

    /// A message with an id of its own, which makes repeating the send safe.
    static let body = #"{"client_message_id":"{run}-{room}-{seq}","text":"{mark}{pad}"}"#

    /// Where a room's live messages are. Rooms and users are the run's own; a token names the user by itself.
    static func live(hasToken: Bool) -> String {
        "/v1/rooms/load-{run}-{room}/live" + (hasToken ? "" : "?user=load-{run}-s{conn}")
    }

    /// Where a room's messages are sent to.
    static func messages(hasToken: Bool) -> String {
        "/v1/rooms/load-{run}-{room}/messages" + (hasToken ? "" : "?user=load-{run}-p{pub}")
    }

    /// What stands before the API's paths: a server may be behind a prefix.
    static func base(_ web: Endpoint) -> String {
        let path = web.target.prefix { $0 != "?" }
        return path.hasSuffix("/") ? String(path.dropLast()) : String(path)
    }
}
