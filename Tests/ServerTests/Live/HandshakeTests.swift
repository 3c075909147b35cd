import HTTP
import HTTPTypes
import TestSupport
import Testing
import WebSocket

@Suite("A WebSocket's handshake")
struct HandshakeTests {
    /// The headers of a valid handshake, with the key of RFC 6455, section 1.3.
    static let fields = [
        HTTPField("Upgrade", "websocket"), HTTPField("Connection", "Upgrade"), HTTPField("Sec-WebSocket-Version", "13"),
        HTTPField("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]

    private func fields(changing name: String, to value: String?) -> [HTTPField] {
        Self.fields.filter { $0.name.rawName != name } + (value.map { [HTTPField(name, $0)] } ?? [])
    }

    @Test func `is answered as RFC 6455 requires`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let response = try client.get("/v1/rooms/lobby/live", fields: Self.fields)
            #expect(response.status == .switchingProtocols)
            #expect(response["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            #expect(response["Upgrade"] == "websocket")
            #expect(response["Connection"] == "Upgrade")
            #expect(response["Sec-WebSocket-Protocol"] == nil)
            #expect(response["Sec-WebSocket-Extensions"] == nil)
        }
    }

    @Test(
        arguments: [
            (["backscroll.v1"], "backscroll.v1"), (["other", "backscroll.v1", "bearer.x"], "backscroll.v1"),
            (["other"], nil),
        ] as [([String], String?)])
    func `selects backscroll.v1 if offered, and no other subprotocol`(offered: [String], chosen: String?) throws {
        try withServer { server in
            let socket = try WebSocketClient(port: server.port, subprotocols: offered)
            #expect(socket.subprotocol == chosen)
        }
    }

    @Test(
        arguments: [
            ("Upgrade", nil, 426), ("Upgrade", "h2c", 426), ("Connection", "keep-alive", 400),
            ("Sec-WebSocket-Version", nil, 400), ("Sec-WebSocket-Version", "8", 426), ("Sec-WebSocket-Key", nil, 400),
            ("Sec-WebSocket-Key", "short", 400), ("Sec-WebSocket-Extensions", "a; =b", 400),
        ] as [(String, String?, Int)])
    func `with a missing header is refused, and the connection continues`(name: String, value: String?, status: Int)
        throws
    {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let response = try client.get("/v1/rooms/lobby/live", fields: fields(changing: name, to: value))
            #expect(response.status.code == status)
            #expect(try response.problem.code == (status == 426 ? "upgrade_required" : "bad_request"))
            if status == 426 {
                #expect(response["Upgrade"] == "websocket")
                #expect(response.fields[values: .connection].contains("Upgrade"))
                #expect(response["Sec-WebSocket-Version"] == "13")
            }
            #expect(try client.get("/healthz").status == .ok)
        }
    }

    @Test func `is not recognized over HTTP/1.0`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let lines = Self.fields.map { "\($0.name.rawName): \($0.value)\r\n" }.joined()
            try client.write("GET /v1/rooms/lobby/live HTTP/1.0\r\nHost: x\r\n\(lines)\r\n")
            #expect(try client.response().status == .badRequest)
        }
    }

    @Test func `may be followed by frames in the same segment`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let handshake = HTTPClient.bytes(.get, "/v1/rooms/lobby/live", fields: Self.fields)
            try client.write(
                handshake + WebSocketClient.frame(.ping, [1, 2]) + WebSocketClient.frame(.close, [3, 232]))
            #expect(try client.response().status == .switchingProtocols)
            let socket = WebSocketClient(upgraded: client)
            var event = try socket.event()
            while case .text = event { event = try socket.event() }
            #expect(event == .pong([1, 2]))
            #expect(try socket.event() == .close(code: .normalClosure, reason: []))
        }
    }

    @Test func `may follow other requests in the same segment`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let send = HTTPClient.bytes(sending: HTTPClient.draft("x"))
            try client.write(
                HTTPClient.bytes(.get, "/healthz") + send
                    + HTTPClient.bytes(.get, "/v1/rooms/lobby/live", fields: Self.fields))
            #expect(try client.response().status == .ok)
            #expect(try client.response().status == .created)
            #expect(try client.response().status == .switchingProtocols)
        }
    }
}
