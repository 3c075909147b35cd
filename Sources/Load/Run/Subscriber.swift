import HTTP
import HTTPTypes
import Transport
import WebSocket
import Wire

/// A WebSocket subscriber. It opens the socket and passes each message to its ``Audience`` without copying.
///
/// There may be tens of thousands, so it holds little memory; it frees the parser of the handshake's answer.
final class Subscriber: ConnectionHandler {
    private enum State {
        /// Waiting for the handshake's answer.
        case opening(ClientHandshake, ResponseParser)
        /// The socket is open; the message that confirms the subscription is awaited.
        case waiting
        /// Subscribed.
        case ready
        /// Without a connection.
        case down
    }

    /// Maximum time for a handshake and the first message.
    static let patience = Duration.seconds(30)
    private static let noConnection = "there was no connection, or it ended before an answer"

    /// The subscriber's number in the run.
    let id: Int
    /// The room that it is subscribed to.
    let room: Int
    /// Its index in the ledger; nil until it was ready for the first time. A storm's client has an index before that.
    var index: Int?
    /// Number of consecutive failed attempts to connect.
    var attempts = 0
    /// The position to resume from.
    private var resumePoint = ResumePoint()
    /// True if it takes part in a disturbance. Its latencies are then not recorded.
    var isDisturbing = false

    private unowned let audience: Audience
    private var state = State.down
    private var walker = FrameWalker()
    private var stream = CutStream()
    private var connection: Connection?
    /// The reason for giving up the connection.
    private var reason: String?
    /// True if reconnecting would be useless.
    private var isFinal = false

    init(id: Int, room: Int, audience: Audience) {
        self.id = id
        self.room = room
        self.audience = audience
    }

    /// True if it is subscribed.
    var isReady: Bool { if case .ready = state { true } else { false } }

    /// Makes it a client of a storm that has received the first `seen` messages of its room.
    func joinStorm(seen: Int, index: Int) {
        isDisturbing = true
        resumePoint = ResumePoint(rev: Int64(seen))
        self.index = index
    }

    /// Stops or resumes reading.
    func stall(_ isStalled: Bool) {
        connection?.isReadingPaused = isStalled
    }

    /// Begins a connection, and reports the outcome to the audience.
    func connect(by loop: Loop, to destination: Destination) {
        var nonce: [UInt8] = []
        for _ in 0..<ClientHandshake.nonceLength { nonce.append(.random(in: .min ... .max, using: &audience.random)) }
        let handshake = ClientHandshake(nonce: nonce, subprotocols: audience.subscribing.protocols)
        state = .opening(handshake, ResponseParser())
        walker = FrameWalker()
        stream = CutStream()
        reason = nil
        isFinal = false
        do throws(TransportError) {
            guard
                let connection = try loop.connect(
                    to: destination.address, tls: destination.tls,
                    receiveBuffer: audience.receiveBuffer(of: self), handler: { _ in self })
            else {
                state = .down
                return audience.lost(self, wasReady: false, reason: Self.noConnection, isFinal: false)
            }
            self.connection = connection
            connection.setDeadline(Self.patience)
            connection.write(upgrade(handshake))
        } catch {
            state = .down
            audience.lost(self, wasReady: false, reason: error.description, isFinal: false)
        }
    }

    /// Returns the request that opens the socket, and resumes the subscription if there is a position.
    private func upgrade(_ handshake: ClientHandshake) -> [UInt8] {
        let subscribing = audience.subscribing
        let values = audience.values(of: self)
        var path = subscribing.target.text(values)
        if let rev = resumePoint.rev {
            path += path.contains("?") ? "&since=" : "?since="
            path += audience.epoch.map { "\($0):\(rev)" } ?? "\(rev)"
        }
        var request = "GET \(path) HTTP/1.1\r\nHost: \(subscribing.endpoint.authority)\r\n"
        for field in handshake.fields { request += "\(field.name): \(field.value)\r\n" }
        request += subscribing.headers.text(values) + "\r\n"
        return Array(request.utf8)
    }

    /// Closes the socket cleanly, without waiting.
    func sayGoodbye() {
        guard let connection, connection.isOpen else { return }
        var frame: [UInt8] = []
        Frame.appendClose(
            ClosePayload(code: .normalClosure), maskingKey: MaskingKey(using: &audience.random), into: &frame)
        connection.write(frame)
    }

    // MARK: ConnectionHandler

    func received(_ bytes: Span<UInt8>, on connection: Connection) {
        guard case .opening(let handshake, var parser) = state else { return walk(bytes, connection) }
        parser.append(bytes)
        do {
            guard case .response(let response) = try parser.next() else {
                state = .opening(handshake, parser)
                return
            }
            try open(handshake, response)
        } catch let failure as ClientHandshake.Failure {
            return giveUp(connection, "the upgrade failed: \(failure.reason)", isFinal: true)
        } catch {
            return giveUp(connection, "the upgrade failed: \(error)", isFinal: true)
        }
        guard case .waiting = state else { return }
        for text in audience.subscribing.hello {
            text.text(audience.values(of: self)).withUTF8Span { send(.text, $0, on: connection) }
        }
        if audience.subscribing.ready == nil { becomeReady(connection) }
        let rest = parser.takeRemainder()
        if !rest.isEmpty { walk(rest.span, connection) }
    }

    private func open(_ handshake: ClientHandshake, _ response: Response) throws {
        guard response.status.code == 101 else {
            let mayPass = response.status.code >= 500 || response.status.code == 429
            guard let connection else { return }
            return giveUp(connection, "the upgrade was refused: \(response.refusalText)", isFinal: !mayPass)
        }
        let fields = response.fields
        _ = try handshake.check(
            ClientHandshake.Response(
                status: 101, upgrade: fields[values: .upgrade], connection: fields[values: .connection],
                accept: fields[values: .secWebSocketAccept], subprotocol: fields[values: .secWebSocketProtocol],
                extensions: fields[values: .secWebSocketExtensions]))
        state = .waiting
    }

    private func walk(_ bytes: Span<UInt8>, _ connection: Connection) {
        let now = audience.clock.now
        do throws(WebSocketError) {
            try walker.walk(bytes) { event, payload in
                switch event {
                case .message where audience.subscribing.isStream:
                    stream.take(payload) { search($0, at: now, connection) }
                case .message: _ = search(payload, at: now, connection)
                case .ping: send(.pong, payload, on: connection)
                case .close: giveUp(connection, Self.describe(close: payload))
                }
            }
        } catch {
            giveUp(connection, "the server broke the WebSocket protocol: \(error.reason)")
        }
    }

    /// Searches for the awaited text and for marks.
    ///
    /// - Returns: the number of bytes at the end that may begin either.
    private func search(_ payload: Span<UInt8>, at now: Int64, _ connection: Connection) -> Int {
        if audience.resumes {
            resumePoint.note(payload)
            audience.noteEpoch(in: payload)
        }
        if case .waiting = state, let text = audience.subscribing.ready {
            let isThere = payload.end(ofFirst: text) != nil
            if isThere { becomeReady(connection) }
            // A subscriber with an index resumes, so it receives messages before it is ready. Streams never resume.
            guard isThere || index != nil else { return min(text.count - 1, payload.count) }
        }
        guard let index else { return 0 }
        var offset = 0
        while let mark = Mark.next(in: payload, at: &offset) {
            audience.enter(mark, subscriber: index, at: now, isTimed: !isDisturbing)
        }
        return payload.count - offset
    }

    private func becomeReady(_ connection: Connection) {
        state = .ready
        attempts = 0
        connection.setDeadline(nil)
        audience.becameReady(self)
    }

    private func send(_ opcode: Opcode, _ payload: Span<UInt8>, on connection: Connection) {
        var frame: [UInt8] = []
        Frame.append(opcode, payload: payload, maskingKey: MaskingKey(using: &audience.random), into: &frame)
        connection.write(frame)
    }

    private func giveUp(_ connection: Connection, _ reason: String, isFinal: Bool = false) {
        if self.reason == nil {
            self.reason = reason
            self.isFinal = isFinal
        }
        connection.abort()
    }

    private static func describe(close payload: Span<UInt8>) -> String {
        guard let close = try? ClosePayload(decoding: payload), let code = close.code else {
            return "the server closed the socket"
        }
        return "the server closed the socket: \(code.rawValue) \(String(decoding: close.reason, as: UTF8.self))"
    }

    func drained(_ connection: Connection) {}

    func deadlineReached(_ connection: Connection) {
        giveUp(connection, "no subscription within \(Self.patience.seconds) s")
    }

    func shuttingDown(_ connection: Connection) {}

    func closed(_ connection: Connection) {
        let wasReady = isReady
        let standard = if case .opening = state { Self.noConnection } else { "the connection ended" }
        state = .down
        self.connection = nil
        audience.lost(self, wasReady: wasReady, reason: reason ?? connection.failure ?? standard, isFinal: isFinal)
    }
}
