import Chat
import HTTP
import HTTPTypes
import Transport
import WebSocket
import Wire

/// `GET /v1/rooms/{room}/live`: what changes in a room, as it changes.
extension Exchange {
    /// Answers with a WebSocket, or with an event stream when that is what the client accepts.
    func openLive(_ room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        try admit(.subscriptions, by: caller.user)
        // Some clients offer to upgrade to other things (h2c), which is no reason to refuse them their events.
        let wantsWebSocket = request.headerFields.lists("websocket", in: .upgrade)
        if !wantsWebSocket, Accept.prefersEventStream(request.headerFields) {
            try openEventStream(room, target, caller)
        } else {
            try openWebSocket(room, target, caller)
        }
    }

    private func openWebSocket(_ room: RoomID, _ target: DecodedTarget, _ caller: Identity) throws(Problem) {
        let handshake: ServerHandshake
        do throws(HandshakeRefusal) {
            handshake = try ServerHandshake(
                .init(request, context), supporting: [Self.subprotocol],
                deflatingWithin: worker.services.configuration.compression ? Self.windowBits : nil)
        } catch {
            for (name, value) in error.fields { add(HTTPField.Name(name)!, value) }
            throw .handshakeRefused(status: error.status, detail: error.reason)
        }
        let since = try sincePosition(target, lastEventID: nil)
        let format = handshake.deflate == nil ? PushFormat.webSocket : .deflatedWebSocket
        subscribe(to: room, since: since, format: format) { [self] feed, slice in
            upgrade(fields: handshake.fields) { connection in
                LiveSocket.open(
                    on: connection, worker: worker, caller: caller, feed: feed, format: format, since: since?.rev,
                    slice: slice)
            }
        }
    }

    private func openEventStream(_ room: RoomID, _ target: DecodedTarget, _ caller: Identity) throws(Problem) {
        // What the browser remembers is newer than what the page put into the URL.
        let since = try sincePosition(target, lastEventID: request.headerFields.first(.lastEventID))
        subscribe(to: room, since: since, format: .serverSentEvents) { [self] feed, slice in
            stream(contentType: Accept.eventStream) { connection in
                EventStream.open(
                    on: connection, worker: worker, caller: caller, feed: feed, since: since?.rev, slice: slice)
            }
        }
    }

    private func sincePosition(_ target: DecodedTarget, lastEventID: String?) throws(Problem) -> SincePosition? {
        let epoch = try target.single("epoch")
        // A browser sends an empty one when it has seen no id.
        if let lastEventID, !lastEventID.isEmpty { return try SincePosition(parsing: lastEventID) }
        guard let since = try target.single("since") else {
            // Without a place to go on from there is nothing to misread, but the client has another history in mind.
            if let epoch, try SincePosition(parsing: "0", epoch: epoch).epoch != worker.services.log.epoch {
                throw .cursorUnknown
            }
            return nil
        }
        return try SincePosition(parsing: since, epoch: epoch)
    }

    /// Joins the room's feed first and reads where the room is afterwards, so that nothing falls in between.
    private func subscribe(
        to room: RoomID, since: SincePosition?, format: PushFormat,
        open: @escaping (Feed, ReplaySlice) -> Void
    ) {
        if let epoch = since?.epoch, epoch != worker.services.log.epoch { return answer(.cursorUnknown) }
        let feed = worker.reserveFeed(of: room)
        let kind = Query.Kind.replay(since: since?.rev, format: format, bytes: Subscription.replayLimit)
        worker.ask(kind, of: room) { [self] result in
            defer { worker.endReservation(of: feed) }
            switch result {
            case .success(.replay(let slice)):
                if let since, since.rev > slice.state.rev { return answer(.cursorUnknown) }
                if worker.isWindingDown { return answer(.unavailable("The server is stopping.")) }
                open(feed, slice)
            case .success:
                preconditionFailure("the log answered another question")
            case .failure(let problem):
                answer(problem)
            }
        }
    }

    /// What is spoken on the socket, for clients that ask.
    private static let subprotocol = "backscroll.v1"
    /// Messages are compressed once for all subscribers, so with one window.
    private static let windowBits = PushDeflater.windowBits...PushDeflater.windowBits
}

extension ServerHandshake.Request {
    /// What the handshake needs to know of a request.
    init(_ request: HTTPRequest, _ context: ReplyContext) {
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
    /// The header fields of the 101.
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
