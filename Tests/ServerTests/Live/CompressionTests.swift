import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import WebSocket

@Suite("A socket with compression")
struct CompressionTests {
    private static let answer = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

    private func withSocket(_ body: (WebSocketClient) throws -> Void) throws {
        try withServer { server in
            let socket = try WebSocketClient(
                port: server.port, "/v1/rooms/lobby/live?user=alice", offersDeflate: true)
            try socket.greeting()
            try body(socket)
        }
    }

    /// Returns a masked frame of a compressed message.
    private func frame(_ message: [UInt8], isFinal: Bool = true) -> [UInt8] {
        var deflater = Deflater()
        var payload: [UInt8] = []
        deflater.append(message.span, to: &payload)
        var bytes: [UInt8] = []
        Frame.append(
            .text, payload: payload.span, isFinal: isFinal, rsv1: true, maskingKey: MaskingKey(1, 2, 3, 4),
            into: &bytes)
        return bytes
    }

    /// Returns everything that a socket receives.
    private func bytes(_ client: HTTPClient) throws -> [UInt8] {
        try client.write(WebSocketClient.frame(.close, []))
        return try client.takeRemainder() + client.socket.receiveToEnd()
    }

    @Test(
        arguments: [
            ("permessage-deflate; client_max_window_bits", answer),
            (
                "permessage-deflate; server_max_window_bits=12; client_max_window_bits=12",
                answer + "; server_max_window_bits=12"
            ),
            ("permessage-deflate; server_max_window_bits=10, permessage-deflate", answer),
            ("permessage-deflate; server_max_window_bits=10", nil), ("permessage-bzip2", nil), ("", nil),
        ] as [(String, String?)])
    func `needs an offer with a window that all sockets can share`(offer: String, answer: String?) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let offer = HTTPField(name: .secWebSocketExtensions, value: offer)
            let response = try client.get("/v1/rooms/lobby/live", fields: HandshakeTests.fields + [offer])
            #expect(response.status == .switchingProtocols)
            #expect(response["Sec-WebSocket-Extensions"] == answer)
        }
    }

    @Test func `does not exist if compression is off`() throws {
        try withServer {
            $0.compression = false
        } _: { server in
            let socket = try WebSocketClient(port: server.port, offersDeflate: true)
            #expect(socket.deflate == nil)
            try socket.greeting()
            try HTTPClient(port: server.port).send("plain")
            #expect(try socket.message().text == "plain")
        }
    }

    @Test func `gets the same messages as a plain socket and an event stream, while others come and go`() throws {
        try withServer {
            $0.threads = 2
        } _: { server in
            let client = try HTTPClient(port: server.port)
            var lives = try LiveFormat.allCases.map { try $0.subscribe(port: server.port) }
            for live in lives { try live.greeting() }
            for round in 1...4 {
                for index in 1...5 { try client.send("\(round).\(index)") }
                for _ in 1...5 {
                    let messages = try lives.map { try $0.next() }
                    #expect(messages.allSatisfy { $0 == messages[0] })
                }
                // The previous one leaves, so that sometimes nobody uses compression.
                lives[1] = try LiveFormat.deflatedWebSocket.subscribe(port: server.port)
                try lives[1].greeting()
            }
        }
    }

    @Test func `gets the same bytes as any other, live or replayed, and fewer than a plain one`() throws {
        try withServer { server in
            let sender = try HTTPClient(port: server.port)
            func subscribe(_ format: LiveFormat, _ query: String = "") throws -> HTTPClient {
                let client = try HTTPClient(port: server.port)
                let response = try client.get("/v1/rooms/lobby/live\(query)", fields: format.fields)
                #expect(response.status == .switchingProtocols)
                return client
            }
            let live = try (0..<2).map { _ in try subscribe(.deflatedWebSocket) }
            let plain = try subscribe(.webSocket)
            // Another reader has the last message, so it was sent to all.
            let witness = try WebSocketClient(port: server.port)
            try witness.greeting()
            for index in 1...10 { try sender.send("How are you today, number \(index)?") }
            for _ in 1...10 { _ = try witness.message() }
            let received = try live.map(bytes)
            #expect(received[0] == received[1])
            let replayed = try bytes(subscribe(.deflatedWebSocket, "?since=0"))
            // After the first frame of each, and before `live` and the answer to our Close frame.
            let messages = received[0].suffix(from: received[0].firstIndex(of: 0xC1)!).dropLast(2)
            #expect(replayed.suffix(from: replayed.firstIndex(of: 0xC1)!).starts(with: messages))
            #expect(try received[0].count * 10 < bytes(plain).count * 9)
        }
    }

    @Test func `may send compressed or plain messages, in fragments too`() throws {
        try withSocket { socket in
            let dance = Array(#"{"type":"dance"}"#.utf8)
            try socket.http.write(frame(dance))
            #expect(try socket.frame().errorCode == "unknown_type")
            try socket.send(.text, dance)
            #expect(try socket.frame().errorCode == "unknown_type")
            var deflater = Deflater()
            var payload: [UInt8] = []
            deflater.append(dance.span, to: &payload)
            var first: [UInt8] = []
            Frame.append(
                .text, payload: payload.span.extracting(..<5), isFinal: false, rsv1: true,
                maskingKey: MaskingKey(5, 6, 7, 8), into: &first)
            try socket.http.write(first)
            try socket.send(.ping, [1])
            try socket.send(.continuation, Array(payload[5...]))
            #expect(try socket.event() == .pong([1]))
            #expect(try socket.frame().errorCode == "unknown_type")
        }
    }

    @Test func `may send up to 10 KiB after decompression; more closes with 1009, whatever the compressed size`() throws
    {
        let limit = 10 * 1024
        let typing = Array((#"{"type":"typing"}"# + String(repeating: " ", count: limit - 17)).utf8)
        try withSocket { socket in
            try socket.http.write(frame(typing))
            try socket.send(.ping, [7])
            #expect(try socket.event() == .pong([7]))
            #expect(frame(typing + [32]).count < 300)
            try socket.http.write(frame(typing + [32]))
            #expect(try socket.closeCode() == .messageTooBig)
        }
        try withSocket { socket in
            try socket.http.write(frame([UInt8](repeating: 32, count: 1 << 24)))
            #expect(try socket.closeCode() == .messageTooBig)
        }
    }

    @Test func `counts each KiB after decompression as a frame more towards the limit of frames`() throws {
        // 200 frames in a second are allowed, and each of these counts as nine.
        let large = Array((#"{"type":"dance"}"# + String(repeating: " ", count: 8 * 1024)).utf8)
        try withSocket { socket in
            try socket.http.write((1...22).flatMap { _ in frame(large) })
            for _ in 1...22 { #expect(try socket.frame().errorCode == "unknown_type") }
        }
        try withSocket { socket in
            try socket.http.write((1...23).flatMap { _ in frame(large) })
            for _ in 1...22 { #expect(try socket.frame().errorCode == "unknown_type") }
            #expect(try socket.closeCode() == .tooManyFrames)
        }
        // So do those that are not compressed.
        try withSocket { socket in
            try socket.http.write((1...23).flatMap { _ in WebSocketClient.frame(.text, large) })
            #expect(try socket.closeCode() == .tooManyFrames)
        }
    }

    @Test(
        arguments: [
            // Invalid deflate data; truncated; not UTF-8; RSV1 on a continuation and on a ping; RSV2.
            ([0xC1, 0x81, 0, 0, 0, 0, 0x07], .invalidPayloadData),
            ([0xC1, 0x83, 0, 0, 0, 0, 0xF2, 0x48, 0xCD], .invalidPayloadData),
            ([0xC1, 0x87, 0, 0, 0, 0, 0x00, 0x01, 0x00, 0xFE, 0xFF, 0xFF, 0x00], .invalidPayloadData),
            ([0x01, 0x80, 0, 0, 0, 0, 0xC0, 0x80, 0, 0, 0, 0], .protocolError),
            ([0xC9, 0x80, 0, 0, 0, 0], .protocolError), ([0xA1, 0x80, 0, 0, 0, 0], .protocolError),
        ] as [([UInt8], CloseCode)])
    func `is closed for data that is not compressed as negotiated`(bytes: [UInt8], code: CloseCode) throws {
        try withSocket { socket in
            try socket.http.write(bytes)
            let closeCode = try socket.closeCode()
            #expect(closeCode == code)
        }
    }

    @Test(arguments: [nil, 9, 12, 15])
    func `on the echo server gets its messages back, compressed`(windowBits: Int?) throws {
        let server = try EchoServer(host: "127.0.0.1", port: 0)
        defer { server.stop() }
        let client = try HTTPClient(port: server.port)
        let window = windowBits.map { "; server_max_window_bits=\($0)" } ?? ""
        let offer = HTTPField(name: .secWebSocketExtensions, value: "permessage-deflate" + window)
        #expect(
            try client.get("/", fields: HandshakeTests.fields + [offer])["Sec-WebSocket-Extensions"] == Self.answer
                + window)
        let message = [UInt8](repeating: 0x61, count: 1000)
        try client.write(frame(message) + WebSocketClient.frame(.close, []))
        let echo = try client.takeRemainder() + client.socket.receiveToEnd()
        #expect(echo.first == 0xC1 && echo.count < 40)
        var reader = MessageReader(role: .client, maxMessageBytes: 1 << 20, allowsCompression: true)
        reader.append(echo.span)
        #expect(try reader.next() == .text(message))
    }
}
