import HTTP
import HTTPTypes
import WebSocket
import Wire

/// A refusal by the proxy, in the form that the server would give it.
///
/// Browsers hide the status of an HTTP answer from users of `WebSocket` and `EventSource`. So a client that offers the
/// subprotocol `backscroll.v1` gets the reason on a socket, and a reconnecting EventSource gets an event.
struct Refusal {
    private let request: Request
    private let problem: Problem
    private let handshake: ServerHandshake?
    private let isEvent: Bool

    init(of request: Request, _ problem: Problem) {
        self.request = request
        self.problem = problem
        let fields = request.head.headerFields
        let handshake = try? ServerHandshake(
            .init(
                method: request.head.method.rawValue, httpMinorVersion: request.minorVersion,
                host: request.head.authority.map { [$0] } ?? [], upgrade: fields[values: .upgrade],
                connection: fields[values: .connection], version: fields[values: .secWebSocketVersion],
                key: fields[values: .secWebSocketKey], subprotocols: fields[values: .secWebSocketProtocol]),
            supporting: ["backscroll.v1"])
        self.handshake = handshake?.subprotocol == nil ? nil : handshake
        isEvent = Accept.prefersEventStream(fields) && fields.first(.lastEventID)?.contains(":") == true
    }

    /// True if further requests may follow on the connection.
    var keepAlive: Bool { handshake == nil && request.keepAlive }

    /// Returns the whole answer.
    func bytes(by writer: inout ResponseWriter) -> [UInt8] {
        var out: [UInt8] = []
        let now = Timestamp.now().milliseconds / 1000
        // The page could read the server's refusal, so it may read this one.
        var fields = OriginPolicy(allowed: .any, exposedHeaders: [.retryAfter])
            .responseFields(
                for: Origin(request.head.headerFields.first(.origin) ?? "").map { .allowed($0) } ?? .withoutOrigin)
        if let handshake {
            fields += handshake.fields.map { HTTPField(name: HTTPField.Name($0.name)!, value: $0.value) }
            writer.write(.switchingProtocols, fields: fields, to: ReplyContext(), at: now, into: &out)
            Frame.append(.text, payload: frame.span, into: &out)
            Frame.appendClose(ClosePayload(code: closeCode, reason: problem.code.string), into: &out)
        } else if isEvent {
            let id = problem.status == 400 ? "\nid: refused" : ""
            let event =
                Array("retry: \(Int.random(in: 2000...4000))\nevent: error\(id)\ndata: ".utf8) + frame + [10, 10]
            fields.append(HTTPField(name: .cacheControl, value: "no-store"))
            fields.append(HTTPField(name: HTTPField.Name("X-Accel-Buffering")!, value: "no"))
            writer.write(
                .ok, contentType: Accept.eventStream, fields: fields, body: event.span, to: request.replyContext,
                at: now,
                into: &out)
        } else {
            if let wait = problem.retryAfter { fields.append(HTTPField(name: .retryAfter, value: "\(wait)")) }
            var body: [UInt8] = []
            problem.encode(into: &body)
            writer.write(
                HTTPResponse.Status(code: problem.status, reasonPhrase: problem.title),
                contentType: "application/problem+json", fields: fields, body: body.span, endsLine: true,
                to: request.replyContext, at: now, into: &out)
        }
        return out
    }

    private var frame: [UInt8] {
        let segments = (try? request.head.target?.segments()) ?? []
        var frame: [UInt8] = []
        ServerFrame.error(problem, room: segments.count > 3 ? segments[2] : nil).encode(into: &frame)
        return frame
    }

    private var closeCode: CloseCode {
        switch problem.status {
        case 400: .badRequest
        case 429: .tooManyFrames
        case 500: .internalError
        default: .unavailable
        }
    }
}

extension HTTPField.Name {
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    static let forwarded = HTTPField.Name("Forwarded")!
    static let xForwardedFor = HTTPField.Name("X-Forwarded-For")!
}

extension Origin {
    /// The part of the origin after its scheme.
    var authority: String { String(text[text.firstRange(of: "://")!.upperBound...]) }
}
