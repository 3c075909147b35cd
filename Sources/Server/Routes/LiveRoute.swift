import Chat
import HTTP
import HTTPTypes
import Transport
import WebSocket
import Wire

/// `GET /v1/rooms/{room}/live` and `GET /v1/live`: subscriptions to rooms.
extension Exchange {
    /// Answers with a WebSocket, or with an event stream if the client accepts one.
    ///
    /// An EventSource reconnects even after a permanent refusal; 204 stops it (WHATWG HTML, section 9.2.3).
    func openLive(_ room: RoomID, _ target: DecodedTarget) throws(Problem) {
        if wantsEvents, request.headerFields.first(.lastEventID) == EventStreamText.refusedID {
            return answerEmpty(.noContent)
        }
        try checkFetchSite()
        let caller = try caller(target, in: room)
        try admitProxiedConnection()
        try admit(.subscriptions, by: caller.user)
        if wantsEvents {
            try openEventStream(room, caller, target)
        } else {
            try openRoomSocket(room, caller, target)
        }
    }

    /// Refuses an event stream to a page of another origin that asks without CORS. Such a request has no `Origin`, and
    /// the page cannot read the answer, but in open mode it could make any user present in a room.
    private func checkFetchSite() throws(Problem) {
        guard wantsEvents, !request.headerFields.contains(.origin) else { return }
        switch request.headerFields.first(.secFetchSite) {
        case "cross-site", "same-site": throw .originNotAllowed
        default: return
        }
    }

    /// True for a request to upgrade to a WebSocket.
    var wantsWebSocket: Bool { request.headerFields.lists("websocket", in: .upgrade) }

    /// True for a request for Server-Sent Events. An offer to upgrade to another protocol (h2c) does not prevent it.
    var wantsEvents: Bool { !wantsWebSocket && Accept.prefersEventStream(request.headerFields) }

    /// `GET /v1/live`: a WebSocket for many rooms.
    func openLiveRooms(_ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target)
        try worker.checkBans(of: caller, in: nil, for: .read)
        let (handshake, format) = try acceptWebSocket()
        guard !worker.isWindingDown else { throw .unavailable("The server is stopping.") }
        try admitProxiedConnection()
        let address = http.flatMap(clientBlock)
        worker.loop.clientStays()
        upgrade(fields: handshake.fields) { connection in
            RoomsSocket.open(
                on: connection, worker: worker, caller: caller, address: address, format: format, faults: faults)
        }
    }

    private func openRoomSocket(_ room: RoomID, _ caller: Identity, _ target: DecodedTarget) throws(Problem) {
        let (handshake, format) = try acceptWebSocket()
        let since = try sincePosition(target, lastEventID: nil)
        subscribe(to: room, caller, since: since, format: format) { [self] subscription, slice in
            upgrade(fields: handshake.fields) { connection in
                RoomSocket.open(
                    on: connection, worker: worker, caller: caller, subscription: subscription, slice: slice,
                    faults: faults)
            }
        }
    }

    private func openEventStream(_ room: RoomID, _ caller: Identity, _ target: DecodedTarget) throws(Problem) {
        // The browser's last event id is newer than the position that the page put into the URL.
        let since = try sincePosition(target, lastEventID: request.headerFields.first(.lastEventID))
        subscribe(to: room, caller, since: since, format: .serverSentEvents) { [self] subscription, slice in
            stream(contentType: Accept.eventStream, fields: EventStreamText.fields) { connection in
                EventStream.open(
                    on: connection, worker: worker, caller: caller, subscription: subscription, since: since?.rev,
                    slice: slice, faults: faults)
            }
        }
    }

    /// Checks the handshake and chooses the framing of messages.
    private func acceptWebSocket() throws(Problem) -> (ServerHandshake, PushFormat) {
        do throws(HandshakeRefusal) {
            let handshake = try ServerHandshake(
                .init(request, context), supporting: [Self.subprotocol],
                deflatingWithin: worker.services.configuration.compression ? Self.windowBits : nil)
            return (handshake, handshake.deflate == nil ? .webSocket : .deflatedWebSocket)
        } catch {
            for (name, value) in error.fields { add(HTTPField.Name(name)!, value) }
            throw .handshakeRefused(status: error.status, detail: error.reason)
        }
    }

    private func sincePosition(_ target: DecodedTarget, lastEventID: String?) throws(Problem) -> SincePosition? {
        let epoch = try target.single("epoch")
        // Browsers send an empty id when they have received none.
        if let lastEventID, !lastEventID.isEmpty { return try SincePosition(parsing: lastEventID) }
        guard let since = try target.single("since") else {
            // Without a position nothing can be misread, but a different epoch shows that the client holds another
            // history.
            if let epoch, try SincePosition(parsing: "0", epoch: epoch).epoch != self.epoch {
                throw .cursorUnknown
            }
            return nil
        }
        return try SincePosition(parsing: since, epoch: epoch)
    }

    /// Joins the room's feed first and reads the room's state afterwards, so that no change falls between the two.
    private func subscribe(
        to room: RoomID, _ caller: Identity, since: SincePosition?, format: PushFormat,
        open: @escaping (Subscription, ReplaySlice) -> Void
    ) {
        if let epoch = since?.epoch, epoch != self.epoch { return answer(.cursorUnknown) }
        worker.loop.clientStays()
        let subscription = worker.subscribe(to: room, as: caller, format: format, since: since?.rev)
        let reading = worker.read(for: subscription, since: since?.rev, asker: asker(caller)) { [self] result in
            // The client may be gone, or the subscription may be refused.
            defer { if !subscription.hasStarted { worker.abandon(subscription) } }
            do throws(Problem) {
                let slice = try result.get()
                if let end = subscription.end { throw end }
                if let since, since.rev > slice.state.rev { throw .cursorUnknown }
                if worker.isWindingDown { throw .unavailable("The server is stopping.") }
                open(subscription, slice)
            } catch {
                answer(error)
            }
        }
        answerDepends(on: reading) { [worker] in worker.abandon(subscription) }
    }

    /// The WebSocket subprotocol of frames and close codes, for clients that offer it.
    static let subprotocol = "backscroll.v1"
    /// Messages are compressed once for all subscribers, so all use one window size.
    private static let windowBits = PushDeflater.windowBits...PushDeflater.windowBits
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
