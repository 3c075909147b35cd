import Chat
import HTTP
import HTTPTypes
import Transport
import WebSocket
import Wire

/// Refusals of live connections in a form that web pages can read.
///
/// Browsers hide the status of an HTTP answer from users of `WebSocket` and `EventSource`. So a client that offers the
/// subprotocol `backscroll.v1` gets the reason on a socket that is opened for it, and a reconnecting EventSource gets
/// an event. A page of an origin that is not allowed learns nothing: it gets the status, like every other client.
struct LiveRefusal {
    private let exchange: Exchange
    private let problem: Problem
    private let code: CloseCode
    /// The room that the request names, valid or not; `nil` for a socket with many rooms.
    private let room: String?

    /// Returns `nil` if the request is not for a live connection, or if the refusal stays a status.
    init?(of exchange: Exchange, _ problem: Problem) {
        guard exchange.isWhole, exchange.request.method == .get, let code = CloseCode(refusing: problem),
            let segments = try? (exchange.request.target ?? Target("")).segments(),
            let resource = Resource.find(segments), resource.isLive
        else { return nil }
        self.exchange = exchange
        self.problem = problem
        self.code = code
        room = resource.text(of: .room, in: segments)
    }

    /// Refuses a WebSocket with an error frame, or an event stream with an error event, if the client can read it.
    ///
    /// - Returns: False if it cannot; then the answer is a status.
    func send() -> Bool { sendFrame() || sendEvent() }

    private func sendFrame() -> Bool {
        let worker = exchange.worker
        guard exchange.request.wantsWebSocket,
            let handshake = try? ServerHandshake(
                .init(exchange.request, exchange.context), supporting: [LiveRoutes.subprotocol]),
            handshake.subprotocol != nil
        else { return false }
        exchange.upgrade(fields: handshake.fields) { connection in
            let socket = WebSocketConnection(
                connection, limits: worker.services.configuration.webSocket, allowsCompression: false,
                delegate: RefusedSocket(worker))
            var frame: [UInt8] = []
            ServerFrame.error(problem, room: room).encode(into: &frame)
            socket.send(.text, frame.span)
            socket.close(code, problem.code.string)
            return socket
        }
        return true
    }

    /// Refuses with an event only if the request names one of our events, which a reconnecting EventSource does.
    private func sendEvent() -> Bool {
        guard let room, exchange.request.wantsEvents,
            let id = exchange.request.headerFields.first(.lastEventID), (try? SincePosition(parsing: id)) != nil
        else { return false }
        exchange.fields.removeAll { $0.name == .cacheControl }
        exchange.fields += EventStreamText.fields
        exchange.send(contentType: Accept.eventStream, body: EventStreamText.refusal(problem, room: room).span)
        return true
    }
}

extension CloseCode {
    /// The close code of a socket that is opened only to report a refusal; `nil` for refusals that stay an HTTP status,
    /// such as those of foreign pages.
    init?(refusing problem: Problem) {
        switch (problem.status, problem.code) {
        case (_, .originNotAllowed): return nil
        case (404, _), (_, .roomDeleted): self = .roomDeleted
        case (400, _): self = .badRequest
        case (401, _): self = .tokenExpired
        case (403, _): self = .notMember
        case (410, _): self = .cursorUnknown
        case (429, _): self = .tooManyFrames
        case (500, _): self = .internalError
        case (503, _): self = .unavailable
        default: return nil
        }
    }
}

/// A socket that only reports why it is refused, and ignores its client's frames.
private final class RefusedSocket: WebSocketDelegate {
    private let worker: Worker

    init(_ worker: Worker) {
        self.worker = worker
    }

    func received(text: [UInt8], on socket: WebSocketConnection) {}
    func received(binary: [UInt8], on socket: WebSocketConnection) {}
    func drained(_ socket: WebSocketConnection) {}
    func closing(_ socket: WebSocketConnection) {}

    func closed(_ socket: WebSocketConnection) {
        worker.countClose(of: socket)
    }
}
