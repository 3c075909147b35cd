import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Transport

@Suite("The bounds on memory")
struct MemoryBoundTests {
    private let messages = "/v1/rooms/lobby/messages?user=alice"

    private func metric(_ name: String, _ client: HTTPClient) throws -> Int? {
        try client.get("/metrics").text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
            .flatMap { Int($0.dropFirst(name.count + 1)) }
    }

    /// Polls a metric, since the server's threads change it asynchronously.
    private func wait(for value: Int, of name: String, _ client: HTTPClient) throws {
        while try metric(name, client) != value {}
    }

    /// Sends the head and the beginning of the body of a request.
    private func half(_ server: LiveServer, bytes: Int, of length: Int) throws -> HTTPClient {
        let client = try HTTPClient(port: server.port)
        try client.write("POST \(messages) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(length)\r\n\r\n")
        try client.write([UInt8](repeating: UInt8(ascii: " "), count: bytes))
        return client
    }

    @Test func `refuse sends when too many bytes wait for a commit, while reads are answered`() throws {
        try withServer {
            $0.pendingBytes = 100_000
            $0.busyTimeout = 120_000
        } _: { server in
            let database = try Database(of: server.configuration)
            let watching = try HTTPClient(port: server.port)
            try database.lock()
            let text = String(repeating: "x", count: 16_000)
            let senders = try (0..<8).map { number in
                let sender = try HTTPClient(port: server.port)
                try sender.write(HTTPClient.bytes(sending: HTTPClient.draft(text, id: "\(number)")))
                return sender
            }
            // Six fit, in any order of arrival.
            let body = HTTPClient.draft(text, id: "0").utf8.count
            try wait(for: 6 * body, of: "backscroll_pending_bytes", watching)
            #expect(try watching.get("/v1/rooms/lobby/messages").status == .ok)
            try database.unlock()
            let answers = try senders.map { try $0.response() }
            #expect(answers.count { $0.status == .created } == 6)
            for refused in answers where refused.status != .created {
                #expect(refused.status == .serviceUnavailable && refused["Retry-After"] == "1")
                #expect(try refused.problem.code == "overloaded")
                #expect(refused.keepAlive)
            }
            try wait(for: 0, of: "backscroll_pending_bytes", watching)
        }
    }

    @Test func `count a body while it arrives, and release it when its client leaves`() throws {
        try withServer {
            $0.pendingBytes = 100_000
        } _: { server in
            let watching = try HTTPClient(port: server.port)
            let slow = try half(server, bytes: 90_000, of: 90_001)
            try wait(for: 90_000, of: "backscroll_pending_bytes", watching)
            let draft = HTTPClient.draft(String(repeating: "x", count: 11_000))
            #expect(try watching.post(draft).problem.code == "overloaded")
            // A body in pieces cannot be skipped, so the connection ends.
            let other = try half(server, bytes: 20_000, of: 30_000)
            let refused = try other.response()
            #expect(try refused.problem.code == "overloaded")
            #expect(!refused.keepAlive)
            #expect(try watching.post(HTTPClient.draft("short")).status == .created)
            slow.close()
            try wait(for: 0, of: "backscroll_pending_bytes", watching)
            #expect(try watching.post(draft).status == .created)
        }
    }

    @Test(arguments: [0, 64 << 20])
    func `let slow subscribers read the database beyond the memory of all feeds`(bytes: Int) throws {
        try withServer {
            ($0.allFeedsBytes, $0.feedBytes) = (bytes, 4 << 20)
            $0.transport.sendBuffer = 16 * 1024
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let slow = try WebSocketClient(port: server.port, receiveBuffer: 4096)
            try slow.greeting()
            let name = "backscroll_replays_total"
            let before = try #require(try metric(name, client))
            let text = String(repeating: "x", count: 16_000)
            for _ in 1...60 { try client.send(text) }
            var seqs: [Int64] = []
            while seqs.count < 60 { if let message = try slow.frame().message { seqs.append(message.seq) } }
            #expect(seqs == Array(1...60))
            #expect(try (#require(try metric(name, client)) > before) == (bytes == 0))
        }
    }

    @Test func `release a body that is refused when its last piece arrives`() throws {
        try withServer {
            $0.pendingBytes = 100_000
        } _: { server in
            let watching = try HTTPClient(port: server.port)
            let slow = try half(server, bytes: 60_000, of: 60_001)
            try wait(for: 60_000, of: "backscroll_pending_bytes", watching)
            let other = try half(server, bytes: 30_000, of: 45_000)
            try wait(for: 90_000, of: "backscroll_pending_bytes", watching)
            try other.write([UInt8](repeating: UInt8(ascii: " "), count: 15_000))
            #expect(try other.response().problem.code == "overloaded")
            // Its connection is still open.
            try wait(for: 60_000, of: "backscroll_pending_bytes", watching)
            slow.close()
        }
    }

    @Test func `refuse a large answer that cannot be kept for a slow client, but not a small one`() throws {
        try withServer {
            $0.transport.unsentBytes = 100_000
        } _: { server in
            let client = try HTTPClient(port: server.port)
            for _ in 0..<10 { try client.send(String(repeating: "x", count: 16_000)) }
            let page = try client.get("/v1/rooms/lobby/messages")
            #expect(page.status == .serviceUnavailable)
            #expect(try page.problem.code == "overloaded")
            #expect(try client.get("/v1/rooms/lobby/messages?limit=3").status == .ok)
            #expect(try client.send("still there").seq == 11)
        }
    }

    @Test(arguments: [
        ("POST /v1/rooms/lobby/messages HTTP/1.1", "", 401, "token_missing"),
        ("POST /v1/rooms/lobby/messages HTTP/1.1", "Authorization: Bearer no\r\n", 401, "token_invalid"),
        ("POST /v1/rooms/other/messages HTTP/1.1", "Authorization: Bearer TOKEN\r\n", 403, "room_not_allowed"),
        ("POST /v1/nothing HTTP/1.1", "Authorization: Bearer TOKEN\r\n", 404, "not_found"),
        ("PUT /v1/rooms/lobby/messages HTTP/1.1", "Authorization: Bearer TOKEN\r\n", 405, "method_not_allowed"),
        (
            "POST /v1/rooms/lobby/messages HTTP/1.1",
            "Authorization: Bearer TOKEN\r\nContent-Type: text/xml\r\n", 415, "unsupported_media_type"
        ),
        (
            "PUT /v1/rooms/lobby/bans/bob HTTP/1.1",
            "Authorization: Bearer TOKEN\r\nContent-Type: text/xml\r\n", 415, "unsupported_media_type"
        ),
        ("POST /v1/rooms/lobby/messages HTTP/1.1", "Origin: https://evil.example\r\n", 403, "origin_not_allowed"),
        ("POST /v1/rooms/lobby/messages HTTP/1.1", "Expect: 100-continue\r\n", 401, "token_missing"),
    ])
    func `refuse a request by its head if no body could make it acceptable`(
        line: String, fields: String, status: Int, code: String
    ) async throws {
        let token = try TestToken.of("alice", #""rooms":["lobby"]"#)
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            let fields = fields.replacing("TOKEN", with: token)
            try client.write("\(line)\r\nHost: localhost\r\nContent-Length: 200000\r\n\(fields)\r\n")
            let response = try client.response()
            #expect(response.status.code == status)
            #expect(try response.problem.code == code)
            #expect(!response.keepAlive)
            let isLast = try client.endsSilently()
            #expect(isLast)
        }
    }

    @Test func `admit the body of a request with a valid head`() async throws {
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            let draft = HTTPClient.draft("hello")
            try client.write(
                "POST /v1/rooms/lobby/messages HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                    + "Authorization: Bearer \(try TestToken.of("alice"))\r\nContent-Length: \(draft.utf8.count)\r\n\r\n"
            )
            #expect(try client.socket.receive(asLongAs: "HTTP/1.1 100 Continue\r\n\r\n").hasPrefix("HTTP/1.1 100"))
            try client.write(draft)
            #expect(try client.response().status == .created)
        }
    }
}
