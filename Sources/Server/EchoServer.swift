import HTTP
import HTTPTypes
public import Transport
import WebSocket
import Wire

/// A bare WebSocket echo server on the chat server's loop and codecs, for conformance suites.
public final class EchoServer: Sendable {
    /// The largest message, in bytes.
    public static let messageBytes = 64 * 1024 * 1024

    /// The port that it listens on.
    public let port: Int
    private let group: LoopGroup

    /// Starts one loop and listens.
    ///
    /// - Throws: ``TransportError`` if it cannot start.
    public init(host: String, port: Int) throws(TransportError) {
        group = try LoopGroup(count: 1)
        do throws(TransportError) {
            self.port = try group.listen(host: host, port: port) { _ in EchoConnection() }
        } catch {
            group.stop()
            throw error
        }
    }

    /// Closes all sockets and stops the loop.
    public func stop() {
        group.windDown()
        group.stop()
    }
}

/// A connection of the echo server before its handshake.
private final class EchoConnection: ConnectionHandler {
    private var parser = RequestParser()
    private var writer = ResponseWriter()

    func received(_ bytes: Span<UInt8>, on connection: Connection) {
        parser.append(bytes)
        do throws(RequestRefusal) {
            guard case .request(let request) = try parser.next() else { return }
            open(request, on: connection)
        } catch {
            refuse(error.status, error.detail, on: connection)
        }
    }

    private func open(_ request: Request, on connection: Connection) {
        do throws(HandshakeRefusal) {
            let handshake = try ServerHandshake(
                .init(request.head, request.replyContext), supporting: [],
                deflatingWithin: PerMessageDeflate.windowBits)
            var head: [UInt8] = []
            writer.write(
                .switchingProtocols, fields: handshake.fields, to: ReplyContext(),
                at: Timestamp.now().milliseconds / 1000, into: &head)
            connection.write(head)
            var limits = WebSocketLimits()
            limits.messageBytes = EchoServer.messageBytes
            limits.framesPerSecond = .max
            let socket = WebSocketConnection(
                connection, limits: limits, allowsCompression: handshake.deflate != nil,
                delegate: Echo(handshake.deflate))
            connection.handler = socket
            let rest = parser.takeRemainder()
            if !rest.isEmpty { socket.received(rest.span, on: connection) }
        } catch {
            refuse(HTTPResponse.Status(code: error.status), error.reason, on: connection)
        }
    }

    private func refuse(_ status: HTTPResponse.Status, _ reason: String, on connection: Connection) {
        var answer: [UInt8] = []
        writer.write(
            status, contentType: "text/plain", body: Array((reason + "\n").utf8).span, to: .refusal,
            at: Timestamp.now().milliseconds / 1000, into: &answer)
        connection.write(answer)
        connection.finish()
    }

    func drained(_ connection: Connection) {}
    func deadlineReached(_ connection: Connection) {}
    func shuttingDown(_ connection: Connection) { connection.finish() }
    func closed(_ connection: Connection) {}
}

/// Sends each message back, compressed if that was negotiated.
private final class Echo: WebSocketDelegate {
    private var deflater: Deflater?

    init(_ deflate: PerMessageDeflate?) {
        if let deflate {
            deflater = Deflater(windowBits: deflate.serverMaxWindowBits ?? PerMessageDeflate.windowBits.upperBound)
        }
    }

    func received(text: [UInt8], on socket: WebSocketConnection) {
        send(.text, text, on: socket)
    }

    func received(binary: [UInt8], on socket: WebSocketConnection) {
        send(.binary, binary, on: socket)
    }

    private func send(_ opcode: Opcode, _ message: [UInt8], on socket: WebSocketConnection) {
        var payload: [UInt8] = []
        guard deflater?.append(message.span, to: &payload) != nil else { return socket.send(opcode, message.span) }
        socket.send(opcode, payload.span, rsv1: true)
    }

    func drained(_ socket: WebSocketConnection) {}
    func closing(_ socket: WebSocketConnection) {}
    func closed(_ socket: WebSocketConnection) {}
}
