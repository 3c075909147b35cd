import HTTP
import HTTPTypes
import Server
import Testing
import WebSocket

@Suite("A client's frame")
struct ClientFrameTests {
    private func withSocket(
        _ configure: (inout ServerConfiguration) -> Void = { _ in }, _ body: (WebSocketClient) throws -> Void
    ) throws {
        try withServer(configure) { server in
            let socket = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?user=alice")
            try socket.greeting()
            try body(socket)
        }
    }

    /// Returns true if the socket still answers.
    private func isOpen(_ socket: WebSocketClient) throws -> Bool {
        try socket.send(.ping, [7])
        return try socket.event() == .pong([7])
    }

    @Test(arguments: [
        #"{"type":"typing"}"#, #"{"type":"typing","room":"lobby","more":[1]}"#,
        #"{"type":"token","token":"x.y.z"}"#,
    ])
    func `can report typing or renew a token`(frame: String) throws {
        try withSocket { socket in
            try socket.send(frame)
            let isOpen = try isOpen(socket)
            #expect(isOpen)
        }
    }

    @Test(arguments: [
        (#"{"type":"dance"}"#, "unknown_type"), (#"{"type":"subscribe","room":"lobby"}"#, "unknown_type"),
        (#"{"type":"subscribe","room":"other","since":1}"#, "unknown_type"),
        (#"{"type":"unsubscribe","room":"lobby"}"#, "unknown_type"),
        (#"{"type":"subscribe","rooms":"mine"}"#, "unknown_type"), ("{}", "invalid_field"),
        (#"{"type":7}"#, "invalid_field"),
        (#"{"type":"typing","room":"a b"}"#, "invalid_room"),
        (#"{"type":"typing","room":"other"}"#, "invalid_field"),
    ])
    func `that cannot be served gets an error, and the socket stays open`(frame: String, code: String) throws {
        try withSocket { socket in
            try socket.send(frame)
            guard case .error(code, .some) = try socket.frame().content else { throw Unexpected("another answer") }
            let isOpen = try isOpen(socket)
            #expect(isOpen)
        }
    }

    @Test(arguments: [
        (Opcode.text, "hello", CloseCode.invalidPayloadData), (.text, "", .invalidPayloadData),
        (.text, #"{"type":"typing"}x"#, .invalidPayloadData), (.text, "[]", .policyViolation),
        (.text, "7", .policyViolation), (.text, "null", .policyViolation),
        (.binary, #"{"type":"typing"}"#, .unsupportedData), (.binary, "", .unsupportedData),
    ])
    func `that is invalid ends the socket with a reason`(opcode: Opcode, payload: String, code: CloseCode) throws {
        try withSocket { socket in
            try socket.send(opcode, Array(payload.utf8))
            let closeCode = try socket.closeCode()
            #expect(closeCode == code)
        }
    }

    @Test func `of 10 KiB is accepted, and one more byte closes with 1009 as soon as the header arrives`() throws {
        let limit = 10 * 1024
        try withSocket { socket in
            let padding = String(repeating: " ", count: limit - 17)
            try socket.send(#"{"type":"typing"}"# + padding)
            #expect(try isOpen(socket))
            let header = WebSocketClient.frame(.text, Array(repeating: 32, count: limit + 1)).prefix(14)
            try socket.http.write(Array(header))
            #expect(try socket.closeCode() == .messageTooBig)
        }
    }

    @Test func `may be fragmented, with a ping in between`() throws {
        try withSocket { socket in
            try socket.send(.text, Array(#"{"type":"#.utf8), isFinal: false)
            try socket.send(.ping, [1])
            try socket.send(.continuation, Array(#""dance"}"#.utf8))
            #expect(try socket.event() == .pong([1]))
            #expect(try socket.frame().errorCode == "unknown_type")
        }
    }

    @Test(
        arguments: [
            ([0x81, 2, 0x7B, 0x7D], .protocolError), ([0x83, 0x80, 0, 0, 0, 0], .protocolError),
            ([0xC1, 0x80, 0, 0, 0, 0], .protocolError), ([0x80, 0x80, 0, 0, 0, 0], .protocolError),
            ([0x89, 0xFE, 0, 126, 0, 0, 0, 0], .protocolError), ([0x88, 0x81, 0, 0, 0, 0, 3], .protocolError),
            ([0x81, 0x81, 0, 0, 0, 0, 0xFF], .invalidPayloadData),
        ] as [([UInt8], CloseCode)])
    func `that violates the protocol ends the socket with 1002 or 1007`(bytes: [UInt8], code: CloseCode) throws {
        try withSocket { socket in
            try socket.http.write(bytes)
            let closeCode = try socket.closeCode()
            #expect(closeCode == code)
        }
    }

    @Test func `above the rate limit closes the socket with 4429`() throws {
        try withSocket {
            $0.webSocket.framesPerSecond = 50
        } _: { socket in
            let pings = (0..<51).flatMap { _ in WebSocketClient.frame(.ping, []) }
            try socket.http.write(pings)
            #expect(try socket.closeCode() == .tooManyFrames)
        }
    }
    @Test func `above the rate limit is not allowed after a pause either`() throws {
        try withServer {
            $0.webSocket.framesPerSecond = 50
            $0.webSocket.pingInterval = .milliseconds(1100)
        } _: { server in
            let socket = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?user=alice")
            try socket.greeting()
            // The ping comes after the first window is over.
            #expect(try socket.event() == .ping([]))
            try socket.http.write((0..<500).flatMap { _ in WebSocketClient.frame(.ping, []) })
            var pongs = 0
            while case .pong = try socket.event() { pongs += 1 }
            #expect(pongs == 50)
        }
    }
}
