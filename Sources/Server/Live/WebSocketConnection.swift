import Transport
import WebSocket
import Wire

/// Handles the messages of a WebSocket.
protocol WebSocketDelegate: AnyObject {
    /// Called for a text message, which is valid UTF-8.
    func received(text: [UInt8], on socket: WebSocketConnection)
    /// Called for a binary message.
    func received(binary: [UInt8], on socket: WebSocketConnection)
    /// Called when everything has been sent. More may be sent then.
    func drained(_ socket: WebSocketConnection)
    /// Called before a Close frame is sent. Nothing may be sent after it.
    func closing(_ socket: WebSocketConnection)
    /// Called when the socket is closed.
    func closed(_ socket: WebSocketConnection)
}

/// Speaks RFC 6455 on an upgraded connection: frames, pings, and the closing handshake.
final class WebSocketConnection: ConnectionHandler {
    /// The time that the client has to answer our Close frame before the connection is closed without its answer.
    static let closeTimeout = Duration.seconds(5)

    let connection: Connection
    private let delegate: any WebSocketDelegate
    private var reader: MessageReader
    private var closing = CloseHandshake(role: .server)
    private var heartbeat: Heartbeat
    private var rate: FrameRate
    /// The cost of the frames so far beyond their number, in frames; see ``spend(_:)``.
    private var surcharge = 0

    /// Creates a connection. `allowsCompression` is true if the handshake negotiated compression.
    init(
        _ connection: Connection, limits: WebSocketLimits, allowsCompression: Bool, delegate: any WebSocketDelegate
    ) {
        self.connection = connection
        self.delegate = delegate
        reader = MessageReader(
            role: .server, maxMessageBytes: limits.messageBytes, allowsCompression: allowsCompression)
        heartbeat = Heartbeat(start: .now, interval: limits.pingInterval)
        rate = FrameRate(limit: limits.framesPerSecond, start: connection.loop.time)
        connection.setDeadline(limits.pingInterval)
    }

    /// The code of our Close frame, sent first or as an answer; `nil` before that.
    private(set) var closeCode: CloseCode?

    /// The reason why the socket ends, if known from its frames; `nil` if the connection just broke.
    private(set) var cause: String?

    /// The time when the client's token expires and the socket closes with 4401; `nil` for never.
    var end: Timestamp? {
        didSet { if closing.maySend { awaitTick() } }
    }

    /// True if messages may still be sent.
    var isOpen: Bool { closing.maySend && connection.isOpen }

    // MARK: Sending

    /// Sends one frame. `rsv1` is true if the payload is compressed.
    func send(_ opcode: Opcode, _ payload: Span<UInt8>, rsv1: Bool = false) {
        guard isOpen else { return }
        var frame: [UInt8] = []
        frame.reserveCapacity(payload.count + FrameHeader.maxEncodedLength)
        Frame.append(opcode, payload: payload, rsv1: rsv1, into: &frame)
        connection.write(frame)
    }

    /// Sends a Close frame, and closes the connection when the client has answered it.
    func close(_ code: CloseCode, _ reason: String = "") {
        if isOpen { cause = reason.isEmpty ? "the server closed it" : reason }
        perform(closing.close(ClosePayload(code: code, reason: reason)))
    }

    private func perform(_ action: CloseHandshake.Action) {
        switch action {
        case .none:
            break
        case .send(let payload):
            write(payload)
            // Nothing more is served, so a client that goes on sending costs no more than its bytes.
            reader.dropMessages()
            connection.setDeadline(Self.closeTimeout)
        case .sendAndDisconnect(let payload):
            write(payload)
            connection.finish()
        case .disconnect:
            connection.finish()
        }
    }

    private func write(_ payload: ClosePayload) {
        closeCode = payload.code ?? .noStatusReceived
        delegate.closing(self)
        var frame: [UInt8] = []
        Frame.appendClose(payload, into: &frame)
        connection.write(frame)
    }

    // MARK: Receiving

    func received(_ bytes: Span<UInt8>, on connection: Connection) {
        heartbeat.received()
        rate.beginWindowIfDue(after: reader.frameCount + surcharge, at: connection.loop.time)
        reader.append(bytes)
        process()
    }

    func turnCame(_ connection: Connection) {
        process()
    }

    /// Handles received frames while the client reads our answers to them, until the connection's time in this turn is
    /// over.
    private func process() {
        guard !connection.isAwaitingTurn else { return }
        var slice = TurnSlice()
        while closing.mayReceive, connection.isOpen, !connection.isCongested {
            if slice.isOver(hasMore: reader.hasUnreadBytes) { return connection.awaitTurn() }
            do throws(WebSocketError) {
                let event = try reader.next()
                if isOpen { checkRate() }
                switch event {
                case .needMoreBytes: return
                case .text(let bytes): if spend(onMessage: bytes) { delegate.received(text: bytes, on: self) }
                case .binary(let bytes): if spend(onMessage: bytes) { delegate.received(binary: bytes, on: self) }
                case .ping(let bytes): send(.pong, bytes.span)
                case .pong: break
                case .close(let code, _):
                    if isOpen { cause = "the client closed it" }
                    perform(closing.received(code: code))
                }
            } catch {
                if isOpen { cause = error.reason }
                perform(closing.failed(error))
            }
        }
    }

    private func checkRate() {
        guard rate.isExceeded(by: reader.frameCount + surcharge) else { return }
        close(.tooManyFrames, "more than \(rate.limit) frames in a second")
    }

    /// Counts each KiB of a message as a frame more, since its cost grows with its size. A compressed message counts by
    /// its size when decompressed.
    ///
    /// - Returns: False if nothing more is served.
    private func spend(onMessage bytes: [UInt8]) -> Bool {
        isOpen && (bytes.count < 1024 || spend(bytes.count / 1024))
    }

    /// Counts a frame that costs as much as `frames` further ones towards the limit of frames.
    ///
    /// - Returns: False if that exceeds the limit, which closes the socket.
    func spend(_ frames: Int) -> Bool {
        surcharge += frames
        checkRate()
        return isOpen
    }

    func drained(_ connection: Connection) {
        process()
        if isOpen, !connection.isCongested { delegate.drained(self) }
    }

    // MARK: Deadlines and closing

    func deadlineReached(_ connection: Connection) {
        guard closing.maySend else { return connection.finish() }
        if let end, Timestamp.now() >= end { return close(.tokenExpired, Problem.Code.tokenExpired.string) }
        if connection.isCongested || connection.isAwaitingTurn {
            // A ping would only wait behind other data, whose progress the connection itself watches; and a pong may wait
            // behind input that has no turn yet.
            heartbeat.skip(at: .now)
        } else {
            switch heartbeat.tick(at: .now) {
            case .none: break
            case .sendPing: send(.ping, Span())
            case .dead:
                cause = "the client did not answer two pings"
                return connection.abort()
            }
        }
        awaitTick()
    }

    /// Sets the deadline to the next ping, or to the token's expiry if that comes first.
    private func awaitTick() {
        var wait = heartbeat.nextTick - .now
        if let end { wait = min(wait, .milliseconds(end.milliseconds - Timestamp.now().milliseconds)) }
        connection.setDeadline(max(.milliseconds(1), wait))
    }

    func shuttingDown(_ connection: Connection) {
        close(.goingAway, "the server is going away")
    }

    func closed(_ connection: Connection) {
        delegate.closed(self)
    }
}

/// The limit on a client's frames in a second. A window begins with the first read after the previous window is over.
///
/// A plain value: callers pass the connection's total number of frames.
struct FrameRate {
    /// Maximum number of frames in a window.
    let limit: Int
    private var start: Duration
    /// The number of frames before the window.
    private var before = 0

    private static let window = Duration.seconds(1)

    /// Creates a limit for a connection that began at `start`, on the clock used by later calls.
    init(limit: Int, start: Duration) {
        self.limit = limit
        self.start = start
    }

    /// Begins a new window if the current one is over. Call it before each read; otherwise a burst after a pause would
    /// count in the old window.
    ///
    /// - Parameter frames: The number of frames read so far.
    mutating func beginWindowIfDue(after frames: Int, at time: Duration) {
        guard time - start >= Self.window else { return }
        start = time
        before = frames
    }

    /// Returns true if this total exceeds the limit.
    func isExceeded(by frames: Int) -> Bool {
        frames - before > limit
    }
}
