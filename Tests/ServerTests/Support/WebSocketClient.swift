import HTTP
import HTTPTypes
import TestSupport
import WebSocket

/// The client side of a WebSocket.
final class WebSocketClient: LiveClient {
    /// The connection after the handshake.
    let http: HTTPClient
    /// The subprotocol that the server selected.
    let subprotocol: String?
    /// The negotiated compression; `nil` for none.
    let deflate: PerMessageDeflate?
    private var reader: MessageReader

    /// Opens a socket.
    ///
    /// - Parameter offersDeflate: True to offer compression.
    /// - Throws: ``Unexpected`` if the server refuses.
    init(
        port: Int, _ target: String = "/v1/rooms/lobby/live", fields: [HTTPField] = [], subprotocols: [String] = [],
        offersDeflate: Bool = false, tls: TLSOptions? = nil, receiveBuffer: Int32? = nil
    ) throws {
        http = try HTTPClient(port: port, tls: tls, receiveBuffer: receiveBuffer)
        let handshake = ClientHandshake(
            nonce: (0..<16).map { _ in .random(in: 0...255) }, subprotocols: subprotocols, offersDeflate: offersDeflate)
        let offer = handshake.fields.map { HTTPField($0.name, $0.value) }
        let response = try http.get(target, fields: offer + fields)
        guard response.status == .switchingProtocols else { throw Unexpected(response) }
        func values(_ name: HTTPField.Name) -> [String] { response.fields[values: name] }
        let agreement = try handshake.check(
            .init(
                status: response.status.code, upgrade: values(.upgrade), connection: values(.connection),
                accept: values(.secWebSocketAccept), subprotocol: values(.secWebSocketProtocol),
                extensions: values(.secWebSocketExtensions)))
        subprotocol = agreement.subprotocol
        deflate = agreement.deflate
        reader = MessageReader(role: .client, maxMessageBytes: 1 << 20, allowsCompression: deflate != nil)
        reader.append(http.takeRemainder().span)
    }

    /// Takes over a connection after the handshake.
    init(upgraded http: HTTPClient) {
        self.http = http
        subprotocol = nil
        deflate = nil
        reader = MessageReader(role: .client, maxMessageBytes: 1 << 20)
        reader.append(http.takeRemainder().span)
    }

    /// Returns the next message or control frame.
    func event() throws -> MessageReader.Event {
        while true {
            let event = try reader.next()
            guard event == .needMoreBytes else { return event }
            let bytes = try http.socket.receiveSome()
            guard !bytes.isEmpty else { throw TestClientError.ended(after: "") }
            reader.append(bytes.span)
        }
    }

    func next() throws -> [UInt8] {
        switch try event() {
        case .text(let json): return json
        case .ping(let payload):
            try send(.pong, payload)
            return try next()
        case let other: throw Unexpected("\(other)")
        }
    }

    /// Sends a frame.
    func send(_ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true) throws {
        try http.socket.send(Self.frame(opcode, payload, isFinal: isFinal))
    }

    /// Sends text.
    func send(_ text: String) throws {
        try send(.text, Array(text.utf8))
    }

    /// Returns the bytes of a masked frame.
    static func frame(_ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
        var bytes: [UInt8] = []
        var generator = SystemRandomNumberGenerator()
        Frame.append(
            opcode, payload: payload.span, isFinal: isFinal, maskingKey: MaskingKey(using: &generator), into: &bytes)
        return bytes
    }

    /// Reads to the server's Close frame, answers it, and reads to the end of the connection.
    ///
    /// - Returns: The code; `nil` if there is none.
    func closeCode() throws -> CloseCode? {
        while true {
            guard case .close(let code, _) = try event() else { continue }
            // The server may have closed its side already.
            try? send(.close, ClosePayload(code: code ?? .normalClosure).encoded())
            try http.socket.waitForEnd()
            return code
        }
    }
}
