import Chat
import HTTP
import HTTPTypes
import Transport
import WebSocket
import Wire

/// `GET /v1/rooms/{room}/live` and `GET /v1/live`: subscriptions to rooms.
enum LiveRoutes {
    /// The WebSocket subprotocol of frames and close codes, for clients that offer it.
    static let subprotocol = "backscroll.v1"
    /// Messages are compressed once for all subscribers, so all use one window size.
    private static let windowBits = PushDeflater.windowBits...PushDeflater.windowBits

    /// Answers with a WebSocket, or with an event stream if the client accepts one.
    static func room(_ request: RoutedRequest) throws(Problem) {
        try request.exchange.admitProxiedConnection()
        try request.admit(.subscriptions)
        if request.exchange.request.wantsEvents {
            try openEventStream(request)
        } else {
            try openRoomSocket(request)
        }
    }

    /// `GET /v1/live`: a WebSocket for many rooms.
    static func rooms(_ request: RoutedRequest) throws(Problem) {
        let (worker, exchange, caller) = (request.worker, request.exchange, request.caller)
        try worker.checkBans(of: caller, in: nil, for: .read)
        let (handshake, format) = try acceptWebSocket(exchange)
        guard !worker.isWindingDown else { throw .unavailable("The server is stopping.") }
        try exchange.admitProxiedConnection()
        let address = exchange.clientBlock
        worker.loop.clientStays()
        exchange.upgrade(fields: handshake.fields) { connection in
            MultiRoomSocket.open(
                on: connection, worker: worker, caller: caller, address: address, format: format)
        }
    }

    private static func openRoomSocket(_ request: RoutedRequest) throws(Problem) {
        let (handshake, format) = try acceptWebSocket(request.exchange)
        let since = try revision(request, lastEventID: nil)
        subscribe(request, since: since, format: format) { subscription, slice in
            request.exchange.upgrade(fields: handshake.fields) { connection in
                RoomSocket.open(
                    on: connection, worker: request.worker, caller: request.caller, subscription: subscription,
                    slice: slice)
            }
        }
    }

    private static func openEventStream(_ request: RoutedRequest) throws(Problem) {
        // The browser's last event id is newer than the position that the page put into the URL.
        let since = try revision(request, lastEventID: request.headerFields.first(.lastEventID))
        subscribe(request, since: since, format: .serverSentEvents) { subscription, slice in
            request.exchange.stream(contentType: Accept.eventStream, fields: EventStreamText.fields) { connection in
                EventStream.open(
                    on: connection, worker: request.worker, caller: request.caller, subscription: subscription,
                    since: since, slice: slice)
            }
        }
    }

    /// Checks the handshake and chooses the framing of messages.
    private static func acceptWebSocket(_ exchange: Exchange) throws(Problem) -> (ServerHandshake, PushFormat) {
        do throws(HandshakeRefusal) {
            let handshake = try ServerHandshake(
                .init(exchange.request, exchange.context), supporting: [subprotocol],
                deflatingWithin: exchange.worker.services.configuration.compression ? windowBits : nil)
            return (handshake, handshake.deflate == nil ? .webSocket : .deflatedWebSocket)
        } catch {
            for (name, value) in error.fields { exchange.add(HTTPField.Name(name)!, value) }
            throw .handshakeRefused(status: error.status, detail: error.reason)
        }
    }

    /// Returns the revision up to which the client knows the room; `nil` if it names none.
    private static func revision(_ request: RoutedRequest, lastEventID: String?) throws(Problem) -> Int64? {
        let history = request.exchange.epoch
        let epoch = try request.single("epoch")
        // Browsers send an empty id when they have received none.
        if let lastEventID, !lastEventID.isEmpty {
            return try SincePosition(parsing: lastEventID).rev(inHistory: history)
        }
        guard let since = try request.single("since") else {
            return try SincePosition.rev(withoutPosition: epoch, inHistory: history)
        }
        return try SincePosition(parsing: since, epoch: epoch).rev(inHistory: history)
    }

    /// Joins the room's feed first and reads the room's state afterwards, so that no change falls between the two.
    private static func subscribe(
        _ request: RoutedRequest, since: Int64?, format: PushFormat,
        open: @escaping (Subscription, ReplaySlice) -> Void
    ) {
        let (worker, exchange) = (request.worker, request.exchange)
        worker.loop.clientStays()
        let subscription = worker.subscribe(to: request.room, as: request.caller, format: format, since: since)
        let reading = worker.read(for: subscription, since: since, client: request.client) { result in
            // The client may be gone, or the subscription may be refused.
            defer { if !subscription.hasStarted { worker.abandon(subscription) } }
            do throws(Problem) {
                let slice = try result.get()
                if let end = subscription.end { throw end }
                if let since, since > slice.state.rev { throw .cursorUnknown }
                if worker.isWindingDown { throw .unavailable("The server is stopping.") }
                open(subscription, slice)
            } catch {
                exchange.refuse(error)
            }
        }
        exchange.answerDepends(on: reading) { worker.abandon(subscription) }
    }
}

/// Requests for live connections.
extension RequestHead {
    /// True for a request to upgrade to a WebSocket.
    var wantsWebSocket: Bool { headerFields.lists("websocket", in: .upgrade) }

    /// True for a request for Server-Sent Events. An offer to upgrade to another protocol (h2c) does not prevent it.
    var wantsEvents: Bool { !wantsWebSocket && Accept.prefersEventStream(headerFields) }

    /// True for an EventSource that was refused. It reconnects even after a permanent refusal; 204 stops it (WHATWG HTML,
    /// section 9.2.3).
    var isRefusedEventSource: Bool { headerFields.first(.lastEventID) == EventStreamText.refusedID }

    /// Refuses an event stream to a page of another origin that asks without CORS. Such a request has no `Origin`, and
    /// the page cannot read the answer, but in open mode it could make any user present in a room.
    func checkFetchSite() throws(Problem) {
        guard !headerFields.contains(.origin) else { return }
        switch headerFields.first(.secFetchSite) {
        case "cross-site", "same-site": throw .originNotAllowed
        default: return
        }
    }
}

extension HTTPField.Name {
    /// The relation of a page to the server that it sends a request to (W3C Fetch Metadata, section 2.3).
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
}

extension ServerHandshake.Request {
    /// Collects what the handshake needs from a request.
    init(_ request: RequestHead, _ context: ReplyContext) {
        let fields = request.headerFields
        self.init(
            method: request.method.rawValue, httpMinorVersion: context.minorVersion,
            host: request.authority.map { [$0] } ?? [], upgrade: fields[values: .upgrade],
            connection: fields[values: .connection], version: fields[values: .secWebSocketVersion],
            key: fields[values: .secWebSocketKey], subprotocols: fields[values: .secWebSocketProtocol],
            extensions: fields[values: .secWebSocketExtensions])
    }
}

extension ServerHandshake {
    /// The header fields of the 101 answer.
    var fields: [HTTPField] {
        var fields = [
            HTTPField(name: .upgrade, value: "websocket"), HTTPField(name: .connection, value: "Upgrade"),
            HTTPField(name: .secWebSocketAccept, value: accept),
        ]
        if let subprotocol { fields.append(HTTPField(name: .secWebSocketProtocol, value: subprotocol)) }
        if let deflate { fields.append(HTTPField(name: .secWebSocketExtensions, value: deflate.answer)) }
        return fields
    }
}
