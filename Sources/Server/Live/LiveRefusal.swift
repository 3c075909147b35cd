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
extension Exchange {
    /// Refuses a WebSocket with an error frame, or an event stream with an error event, if the client can read it.
    ///
    /// - Returns: False if the request is neither; then the answer is a status.
    func refuseLive(_ problem: Problem) -> Bool {
        guard isWhole, request.method == .get, let code = CloseCode(refusing: problem),
            let segments = try? (request.target ?? Target("")).segments()
        else { return false }
        switch segments.count {
        case 2 where segments[0] == "v1" && segments[1] == "live":
            return refuseSocket(problem, code, room: nil)
        case 4 where segments[0] == "v1" && segments[1] == "rooms" && segments[3] == "live":
            return refuseSocket(problem, code, room: segments[2]) || refuseEvents(problem, room: segments[2])
        default: return false
        }
    }

    private func refuseSocket(_ problem: Problem, _ code: CloseCode, room: String?) -> Bool {
        guard wantsWebSocket,
            let handshake = try? ServerHandshake(.init(request, context), supporting: [Self.subprotocol]),
            handshake.subprotocol != nil
        else { return false }
        upgrade(fields: handshake.fields) { connection in
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
    private func refuseEvents(_ problem: Problem, room: String) -> Bool {
        guard wantsEvents, let id = request.headerFields.first(.lastEventID), (try? SincePosition(parsing: id)) != nil
        else { return false }
        fields.removeAll { $0.name == .cacheControl }
        fields += EventStreamText.fields
        answer(contentType: Accept.eventStream, body: EventStreamText.refusal(problem, room: room).span)
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
