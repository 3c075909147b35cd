import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Transport

@Suite("A slow client")
struct DeadlineTests {
    private func withImpatientServer(_ body: (LiveServer) throws -> Void) throws {
        try withServer {
            $0.deadlines.head = .milliseconds(200)
            $0.deadlines.body = .milliseconds(200)
            $0.deadlines.idle = .milliseconds(200)
        } _: {
            try body($0)
        }
    }

    private func expectTimeout(_ client: HTTPClient) throws {
        let response = try client.response()
        #expect(response.status == .requestTimeout)
        #expect(try response.problem.code == "request_timeout")
        #expect(!response.keepAlive)
        #expect(try client.endsSilently())
    }

    /// Sends a byte from time to time until the server answers.
    private func drip(_ byte: UInt8, _ client: HTTPClient) throws {
        while !client.socket.waitForBytes(milliseconds: 20) { try client.write([byte]) }
    }

    @Test func `that sends nothing gets 408`() throws {
        try withServer {
            $0.deadlines.firstByte = .milliseconds(200)
        } _: { server in
            try expectTimeout(HTTPClient(port: server.port))
        }
    }

    @Test(arguments: ["G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: x\r\nX: "])
    func `in the middle of a head gets 408`(head: String) throws {
        try withImpatientServer { server in
            let client = try HTTPClient(port: server.port)
            try client.write(head)
            try expectTimeout(client)
        }
    }

    @Test func `in the middle of a body gets 408, and nothing is stored`() throws {
        try withImpatientServer { server in
            let client = try HTTPClient(port: server.port)
            try client.write(HTTPClient.bytes(sending: HTTPClient.draft("x")).dropLast())
            try expectTimeout(client)
            #expect(try HTTPClient(port: server.port).read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 0)
        }
    }

    @Test func `gains no time by sending single bytes, in a head or in a body, sized or chunked`() throws {
        try withImpatientServer { server in
            let start = "POST /v1/rooms/lobby/messages?user=a HTTP/1.1\r\nHost: x\r\n"
            for head in [
                start + "X: ", start + "Content-Length: 100000\r\n\r\n",
                start + "Transfer-Encoding: chunked\r\n\r\nffff\r\n",
            ] {
                let client = try HTTPClient(port: server.port)
                try client.write(head)
                try drip(UInt8(ascii: "x"), client)
                try expectTimeout(client)
            }
        }
    }

    @Test func `between two requests is disconnected without an answer`() throws {
        try withImpatientServer { server in
            let client = try HTTPClient(port: server.port)
            #expect(try client.get("/healthz").status == .ok)
            #expect(try client.endsSilently())
        }
    }

    @Test func `with half of its next request gets 408`() throws {
        try withImpatientServer { server in
            let client = try HTTPClient(port: server.port)
            try client.write(HTTPClient.bytes(.get, "/healthz") + Array("GET /".utf8))
            #expect(try client.response().status == .ok)
            try expectTimeout(client)
        }
    }

    @Test(arguments: LiveFormat.allCases)
    func `that does not read its data for too long is disconnected`(format: LiveFormat) throws {
        try withServer {
            $0.transport.noProgress = .milliseconds(400)
            $0.transport.sendBuffer = 16 * 1024
        } _: { server in
            let live = try format.subscribe(port: server.port, receiveBuffer: 16 * 1024)
            try live.greeting()
            let client = try HTTPClient(port: server.port)
            // Random letters, which stay large after compression.
            let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
            for _ in 0..<20 { try client.send(String((0..<16_000).map { _ in letters.randomElement()! })) }
            // The slow client is gone when only the sender's connection is left.
            while try !client.get("/metrics").text.contains("backscroll_connections 1\n") {}
            try client.send("on it goes")
        }
    }
}
