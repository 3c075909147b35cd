import HTTP
import HTTPTypes
import Server
import Testing
import Transport

@Suite("A request that is too large")
struct SizeTests {
    private func expectRefusal(
        _ status: Int, _ code: String, limit: Int, of request: String, port: Int
    ) throws {
        let client = try HTTPClient(port: port)
        try client.write(request)
        let response = try client.response()
        #expect(response.status.code == status)
        let problem = try response.problem
        #expect(problem.code == code)
        #expect(problem.limit == limit)
        #expect(!response.keepAlive)
        #expect(try client.endsSilently())
    }

    @Test func `gets 414 for its target, 431 for its head and 501 for its method`() throws {
        try withServer { server in
            func x(_ count: Int) -> String { String(repeating: "x", count: count) }
            let port = server.port
            try expectRefusal(
                414, "target_too_long", limit: 8192, of: "GET /\(x(8192)) HTTP/1.1\r\nHost: x\r\n\r\n", port: port)
            try expectRefusal(414, "target_too_long", limit: 8192, of: "GET /\(x(9000))", port: port)
            try expectRefusal(
                431, "head_too_large", limit: 16_384, of: "GET / HTTP/1.1\r\nHost: x\r\nX: \(x(16_384))\r\n\r\n",
                port: port)
            try expectRefusal(
                431, "head_too_large", limit: 16_384, of: "GET / HTTP/1.1\r\nHost: x\r\nX: \(x(17_000))", port: port)
            let fields = String(repeating: "X: y\r\n", count: 100)
            try expectRefusal(
                431, "too_many_fields", limit: 100, of: "GET / HTTP/1.1\r\nHost: x\r\n\(fields)\r\n", port: port)
            try expectRefusal(
                501, "method_too_long", limit: 32, of: "\(x(33)) / HTTP/1.1\r\nHost: x\r\n\r\n", port: port)
            let client = try HTTPClient(port: port)
            #expect(try client.get("/\(x(8191))").status == .notFound)
            #expect(try client.get("/healthz", fields: [HTTPField("X", x(16_000))]).status == .ok)
        }
    }

    @Test func `gets 413 for its body as soon as the size is known; a body of the maximum size is read`() throws {
        try withServer { server in
            let limit = 256 * 1024
            let start = "POST /v1/rooms/lobby/messages?user=a HTTP/1.1\r\nHost: x\r\n"
            for head in [
                "Content-Length: \(limit + 1)\r\n\r\n", "Content-Length: 99999999999999999999\r\n\r\n",
                "Transfer-Encoding: chunked\r\n\r\n40001\r\n",
                "Expect: 100-continue\r\nContent-Length: \(limit + 1)\r\n\r\n",
            ] {
                try expectRefusal(413, "body_too_large", limit: limit, of: start + head, port: server.port)
            }
            let client = try HTTPClient(port: server.port)
            let draft = HTTPClient.draft("x")
            let padded = draft + String(repeating: " ", count: limit - draft.utf8.count)
            #expect(try client.post(padded).status == .created)
        }
    }

    @Test(arguments: [true, false])
    func `is refused while the client is still sending, and the client can read the reason`(isChunked: Bool) throws {
        try withServer({ $0.transport.linger = .seconds(60) }) { server in
            let client = try HTTPClient(port: server.port)
            let head = "POST /v1/rooms/lobby/messages?user=a HTTP/1.1\r\nHost: x\r\n"
            let chunk = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
            try client.write(
                head + (isChunked ? "Transfer-Encoding: chunked\r\n\r\n" : "Content-Length: 3000000\r\n\r\n"))
            for _ in 0..<40 { try client.write(chunk) }
            let response = try client.response()
            #expect(response.status == .contentTooLarge)
            #expect(try client.endsSilently())
        }
    }

    @Test func `is judged by the configured limits`() throws {
        try withServer {
            $0.http.bodyBytes = 20
            $0.http.headBytes = 200
        } _: { server in
            let client = try HTTPClient(port: server.port)
            #expect(try client.post(#"{"text":"12345678"}"#).status == .created)
            #expect(try client.post(#"{"text":"1234567890"}"#).status == .contentTooLarge)
            let other = try HTTPClient(port: server.port)
            #expect(try other.get("/", fields: [HTTPField("X", String(repeating: "x", count: 200))]).status.code == 431)
        }
    }
}
