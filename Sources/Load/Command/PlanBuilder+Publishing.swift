extension PlanBuilder {
    /// Default number of connections.
    private static let connections = 32
    /// Default number of connections with `--rate`, where a slow answer must not delay the next request.
    private static let connectionsAtRate = 128

    /// Returns the publishing part of the plan; nil if nothing is to be sent.
    ///
    /// - Throws: an error that names the invalid option.
    func publishing(hasSubscribers: Bool) throws(LoadError) -> Plan.Publishing? {
        guard let address = try address() else { return nil }
        let endpoint = try Endpoint(address, schemes: ["http", "https", "tcp"], source: "--post")
        let isRead = try isRead(endpoint, hasSubscribers: hasSubscribers)
        let body = body(isRead: isRead)
        if hasSubscribers, let body, !body.contains("{mark}") {
            throw LoadError("--body lacks {mark}, by which subscribers recognize messages")
        }
        var publishing = Plan.Publishing(
            endpoint: endpoint, request: try request(to: endpoint, body: body), sendsMessages: !isRead,
            inFlight: load.inFlight ?? (load.rate == nil ? Self.connections : Self.connectionsAtRate),
            pacing: load.rate.map { .open(perSecond: $0) } ?? .closed(awaitsDeliveries: load.until == .delivered),
            random: try random(), count: load.pages == nil ? load.messages : nil)
        if endpoint.isPlain {
            publishing.hello = try templates.tcpHello.map { text throws(LoadError) in
                try Template(text, source: "--tcp-hello", allowed: [.pub, .run])
            }
            publishing.answers = .text(Array((templates.tcpAnswer ?? "").utf8))
        }
        return publishing
    }

    private func address() throws(LoadError) -> String? {
        if let post = templates.post { return post }
        guard let server, templates.isOwn else { return nil }
        let web = try Endpoint(server, schemes: ["http", "https"], source: "the server's address")
        let room = load.room ?? Backscroll.room
        let path = load.pages.map { Backscroll.page($0, of: room) }
        return "\(web.scheme)://\(web.authority)\(Backscroll.base(web))"
            + (path ?? Backscroll.messages(in: room, hasToken: templates.hasToken))
    }

    private var method: String { load.pages == nil ? templates.method : "GET" }

    /// Returns true if the requests only read, and send no messages.
    private func isRead(_ endpoint: Endpoint, hasSubscribers: Bool) throws(LoadError) -> Bool {
        try checkFrame(endpoint)
        guard method != "HEAD" else { throw LoadError("--method: HEAD has no content to wait for; use GET") }
        guard method == "GET" || method == "OPTIONS" else { return false }
        if hasSubscribers { throw LoadError("--method \(method) sends nothing to --subscribers") }
        return true
    }

    /// Checks the options that depend on whether the protocol is HTTP.
    private func checkFrame(_ endpoint: Endpoint) throws(LoadError) {
        guard endpoint.isPlain else {
            let given = [
                ("--tcp-hello", templates.tcpHello), ("--tcp-frame", templates.tcpFrame),
                ("--tcp-answer", templates.tcpAnswer),
            ].first { $1 != nil }
            if let (name, _) = given { throw LoadError("\(name): only with --post tcp://host:port") }
            return
        }
        guard method == "POST" else { throw LoadError("--method \(method): only HTTP has methods, tcp:// has none") }
        guard templates.tcpFrame != nil else {
            throw LoadError("--tcp-frame is missing: the text to send to tcp:// for a message")
        }
        guard templates.tcpAnswer?.isEmpty == false else {
            throw LoadError("--tcp-answer is missing: the text that acknowledges a message")
        }
    }

    private func body(isRead: Bool) -> String? {
        if isRead { return templates.body }
        return templates.body ?? (templates.isOwn ? Backscroll.body : #"{"text":"{mark}{pad}"}"#)
    }

    private func request(to endpoint: Endpoint, body: String?) throws(LoadError) -> RequestTemplate {
        if let frame = templates.tcpFrame, let body {
            return try RequestTemplate(frame: frame, body: body, size: load.size)
        }
        return try RequestTemplate(
            method: method, endpoint: endpoint, headers: templates.headers, body: body, size: load.size)
    }

    private func random() throws(LoadError) -> ClosedRange<Int64> {
        guard let text = templates.random else {
            // There is a whole page before each of these messages.
            if load.pages == .random { return Int64(Backscroll.pageSize + 1)...Int64(load.messages ?? 0) + 1 }
            return 0...Int64(UInt32.max)
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let low = Int64(parts[0]), let high = Int64(parts[1]), low <= high else {
            throw LoadError("--rand: '\(text)' is not LOW:HIGH, such as 1:1000000")
        }
        return low...high
    }
}
