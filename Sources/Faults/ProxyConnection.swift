import HTTP
import HTTPTypes
import Transport
import WebSocket
import Wire

/// A client's connection to the proxy, and the connection to the server that its requests are sent on.
///
/// One request at a time is parsed, sent and answered. Bytes that are no HTTP request are left to the server.
final class ProxyConnection: ConnectionHandler {
    enum Mode {
        case requests
        /// Bytes pass both ways.
        case tunnel
        /// A WebSocket. With a reader, the client's frames are changed, too.
        case socket(MessageReader?)
        /// An event stream, whose framing the parser of the exchange removes.
        case stream
    }

    /// A request that is not answered yet.
    struct Exchange {
        let request: Request
        let plan: FaultPlan
        /// The room that the request changes messages of, and its highest revision that was known before.
        var change: (room: String, known: Int64)?
        /// The answer as received.
        var received: [UInt8] = []
        var parser = ResponseParser(limits: FaultProxy.limits)
        var hasHead = false

        var isHead: Bool { request.head.method == .head }
    }

    let state: ProxyState
    let client: Connection
    var server: Connection?
    var mode = Mode.requests
    var parser = RequestParser(limits: FaultProxy.limits)
    /// The bytes of the next request that have arrived.
    var unparsed: [UInt8] = []
    var exchange: Exchange?
    private var isProcessing = false
    var frames: LiveFrames?
    /// Bytes for a client that has not taken earlier ones.
    var held: [UInt8] = []
    var endsAfterHeld = false

    init(_ client: Connection, _ state: ProxyState) {
        self.client = client
        self.state = state
    }

    // MARK: The client's side

    func received(_ bytes: Span<UInt8>, on connection: Connection) {
        switch mode {
        case .requests:
            unparsed.append(copying: bytes)
            parser.append(bytes)
            process()
        case .tunnel, .socket(nil):
            sendToServer(Array(copying: bytes))
        case .socket(var reader?):
            reader.append(bytes)
            restoreEpochs(&reader)
            mode = .socket(reader)
        case .stream: break
        }
    }

    func drained(_ connection: Connection) {
        let bytes = held
        held = []
        client.write(bytes)
        if endsAfterHeld { return client.finish() }
        server?.isReadingPaused = client.isCongested
        process()
    }

    func deadlineReached(_ connection: Connection) {}

    func shuttingDown(_ connection: Connection) { client.finish() }

    func closed(_ connection: Connection) {
        exchange = nil
        state.live[ObjectIdentifier(self)] = nil
        closeServer()
    }

    func process() {
        guard case .requests = mode, !isProcessing else { return }
        isProcessing = true
        defer {
            isProcessing = false
            // A client that has closed its sending side still gets its answer.
            client.isReadingPaused = exchange != nil
        }
        while exchange == nil, client.isOpen, !client.isCongested {
            do throws(RequestRefusal) {
                switch try parser.next() {
                case .needMoreBytes: return
                case .sendContinue: client.write(ResponseWriter.continueResponse)
                case .request(let request):
                    guard request.head.target != nil else { return openTunnel() }
                    unparsed = parser.takeRemainder()
                    parser = RequestParser(limits: FaultProxy.limits)
                    parser.append(unparsed.span)
                    begin(request)
                }
            } catch {
                return openTunnel()
            }
        }
    }

    private func openTunnel() {
        mode = .tunnel
        sendToServer(unparsed)
    }

    private func begin(_ request: Request) {
        let head = request.head
        let segments = (try? head.target?.segments()) ?? []
        var plan = FaultPlan()
        do throws(Problem) {
            // A browser's preflight request has the parameter, too, but the faults are meant for the request itself.
            if head.method != .options { plan = try FaultPlan(head) }
            plan = plan.due(head.method, segments.joined(separator: "/"), state.counts)
        } catch {
            exchange = Exchange(request: request, plan: FaultPlan())
            return refuse(error)
        }
        exchange = Exchange(request: request, plan: plan)
        if segments.count > 3, segments[1] == "rooms", segments[3] == "messages", head.method != .get {
            let known = state.live.values.compactMap { $0.frames?.known(of: segments[2]) }.max()
            exchange?.change = known.map { (segments[2], $0) }
        }
        let next = { [self] in if let refusal = plan.refusal { refuse(refusal) } else { forward(request) } }
        guard let delay = plan[.delay] else { return next() }
        client.loop.after(.milliseconds(delay)) { [self] in if client.isOpen { next() } }
    }

    // MARK: The server's side

    private func forward(_ request: Request) {
        var bytes: [UInt8] = []
        let renames = exchange?.plan[.newEpoch] != nil
        let target = FaultPlan.removed(from: request.head.path ?? "/")
        RequestWriter.write(
            request.head.method, renames ? Epochs.restored(in: target) : target,
            host: ownOrigin(of: request.head)?.authority ?? request.head.authority ?? "", fields: fields(of: request),
            body: request.body.span, into: &bytes)
        sendToServer(bytes)
    }

    /// The server's origin in place of the proxy's; `nil` if the client has addressed another host, which the server is
    /// to refuse, or if the server is to see the client's Host.
    private func ownOrigin(of head: RequestHead) -> Origin? {
        state.hosts.accepts(head) ? state.upstream.origin : nil
    }

    private func fields(of request: Request) -> [HTTPField] {
        let head = request.head
        let renames = exchange?.plan[.newEpoch] != nil
        var dropped: Set<HTTPField.Name> = [.contentLength, .transferEncoding, .expect, .backscrollFault]
        // An epoch in compressed content would not be found.
        if renames { dropped.insert(.acceptEncoding) }
        if request.minorVersion == 0 { dropped.insert(.connection) }
        var fields = head.headerFields.filter { !dropped.contains($0.name) }
        for index in fields.indices {
            if fields[index].name == .lastEventID, renames {
                fields[index].value = Epochs.restored(eventID: fields[index].value)
            } else if fields[index].name == .origin, let own = ownOrigin(of: head), let authority = head.authority,
                Origin(fields[index].value)?.isSame(asHost: authority) == true
            {
                fields[index].value = own.text
            }
        }
        // The connection to an old client is not kept, because its answers would need other fields.
        if request.minorVersion == 0 { fields.append(HTTPField(name: .connection, value: "close")) }
        // If a request has both headers, the server expects the same client in both.
        let hasOther = head.headerFields.contains(.xForwardedFor)
        if hasOther { fields.append(HTTPField(name: .xForwardedFor, value: client.peer)) }
        if !hasOther || head.headerFields.contains(.forwarded) {
            let node = client.peer.contains(":") ? "\"[\(client.peer)]\"" : client.peer
            fields.append(HTTPField(name: .forwarded, value: "for=\(node)"))
        }
        return fields
    }

    func sendToServer(_ bytes: [UInt8]) {
        if server == nil {
            server = try? client.loop.connect(to: state.upstream.address, tls: state.upstream.tls) { _ in
                ServerSide(self)
            }
        }
        guard let server else { return serverClosed(nil) }
        server.write(bytes)
        if case .requests = mode { return }
        client.isReadingPaused = server.isCongested
    }

    func closeServer() {
        server?.abort()
        server = nil
    }

    fileprivate func serverDrained() {
        if case .requests = mode { return }
        client.isReadingPaused = false
    }

    fileprivate func receivedFromServer(_ bytes: Span<UInt8>) {
        do {
            switch mode {
            case .tunnel: send(Array(copying: bytes))
            case .socket: try pass(Array(copying: bytes))
            case .requests, .stream: try readAnswer(bytes)
            }
        } catch {
            client.finish()
        }
    }

    fileprivate func serverClosed(_ connection: Connection?) {
        guard server === connection else { return }
        server = nil
        switch mode {
        case .requests:
            guard exchange != nil else { return }
            if let response = try? exchange?.parser.finish() { return finish(response) }
            guard exchange?.received.isEmpty == true else { return client.finish() }
            let reason = connection?.failure.map { ": \($0)" } ?? "."
            refuse(
                Problem(
                    code: .unavailable, detail: "The server behind the fault proxy does not answer\(reason)",
                    retryAfter: 1))
        case .tunnel, .socket, .stream:
            end()
        }
    }
}

/// Passes the events of the connection to the server on.
private final class ServerSide: ConnectionHandler {
    private weak var owner: ProxyConnection?

    init(_ owner: ProxyConnection) {
        self.owner = owner
    }

    func received(_ bytes: Span<UInt8>, on connection: Connection) { owner?.receivedFromServer(bytes) }
    func drained(_ connection: Connection) { owner?.serverDrained() }
    func deadlineReached(_ connection: Connection) {}
    func shuttingDown(_ connection: Connection) {}
    func closed(_ connection: Connection) { owner?.serverClosed(connection) }
}
