import HTTP
import HTTPTypes
import Testing

@Suite("A request that other servers may parse differently")
struct SmugglingTests {
    private static let post = "POST /v1/rooms/lobby/messages?user=a HTTP/1.1\r\nHost: x\r\n"
    private static let hidden =
        "POST /v1/rooms/lobby/messages?user=b HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n"
        + #"{"text":"x"}"#

    @Test(arguments: [
        (post + "Content-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (post + "Transfer-Encoding: chunked\r\nContent-Length: 12\r\n\r\n0\r\n\r\n", 400),
        (post + "Content-Length: 0\r\nContent-Length: 12\r\n\r\n", 400),
        (post + "Content-Length: 12\r\nContent-Length: 12\r\n\r\n", 400),
        (post + "Content-Length: 12, 12\r\n\r\n", 400), (post + "Content-Length: +12\r\n\r\n", 400),
        (post + "Content-Length: 0x0c\r\n\r\n", 400), (post + "Content-Length: -1\r\n\r\n", 400),
        (post + "Content-Length:\r\n\r\n", 400), (post + "Content-Length : 12\r\n\r\n", 400),
        (post + "Content-Length: 1 2\r\n\r\n", 400),
        (post + "Transfer-Encoding: identity\r\n\r\n", 400),
        (post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
        (post + "Transfer-Encoding: chunked, gzip\r\n\r\n", 400),
        (post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (post + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400),
        (post + "Transfer-Encoding: xchunked\r\n\r\n", 400),
        (post + "Transfer-Encoding:\u{0B}chunked\r\n\r\n", 400),
        (post + "Transfer-Encoding: chunked\r\n\r\nc\r\n{\"text\":\"x\"}0\r\n\r\n", 400),
        (post + "Transfer-Encoding: chunked\r\n\r\n0xc\r\n{\"text\":\"x\"}\r\n0\r\n\r\n", 400),
        (post + "Transfer-Encoding: chunked\r\n\r\nc\n{\"text\":\"x\"}\r\n0\r\n\r\n", 400),
        (post + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n", 400),
        (post + "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n", 400),
        (post + "X: a\r\n b\r\n\r\n", 400), (post + "X: a\nContent-Length: 12\r\n\r\n", 400),
        (post + "X: a\rContent-Length: 12\r\n\r\n", 400), (post + "X\r\n\r\n", 400), (post + ": x\r\n\r\n", 400),
        (post + "X: a\u{0}b\r\n\r\n", 400), (post + "Host: y\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\n\r\n", 400), ("POST / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400),
        ("GET /\u{7F} HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("G@T / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505), ("GET / http/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET /\r\n\r\n", 400), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        ("\u{16}\u{3}\u{1}\u{2}\u{0}\r\n\r\n", 400),
        ("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("\r\n\r\n\r\nGET / HTTP/1.1\r\n", 400),
    ])
    func `is refused, ends the connection, and nothing in it is served`(request: String, status: Int) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.write(request + Self.hidden)
            let response = try client.response()
            #expect(response.status.code == status, "\(response.text)")
            #expect(response["Content-Type"] == "application/problem+json")
            #expect(!response.keepAlive)
            #expect(try client.endsSilently())
            let other = try HTTPClient(port: server.port)
            #expect(try other.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 0)
        }
    }

    @Test func `is accepted if its body is properly chunked, however it is cut`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let request =
                Self.post
                + "Transfer-Encoding: chunked\r\n\r\n3;a=\"b\"\r\n{\"t\r\n9\r\next\":\"x\"}\r\n0\r\nT: x\r\n\r\n"
            try client.write(request + request)
            #expect(try client.response().status == .created)
            #expect(try client.response().status == .created)
            for byte in request.utf8 { try client.write([byte]) }
            #expect(try client.response().status == .created)
        }
    }
}
