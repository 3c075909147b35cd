import HTTP
import HTTPTypes
import Server
import Testing

@Suite("A read whose answer is no longer needed")
struct CancelledReadTests {
    private func queued(_ client: HTTPClient) throws -> Substring? {
        try client.get("/metrics").text.firstMatch(of: /\nbackscroll_queued_reads (\d+)\n/)?.1
    }

    @Test func `is dropped: repeated list requests leave one read in the queue, and none when the socket ends`() throws
    {
        try withHeldReads { server, client, reads in
            try client.send("x", to: "a", as: "mallory")
            let socket = try WebSocketClient.forRooms(port: server.port, as: "mallory")
            try reads.hold(server)
            for _ in 0..<50 {
                try socket.send(#"{"type":"subscribe","rooms":"mine"}"#)
                // In separate turns of the loop, so that the log has the query.
                #expect(try socket.isQuiet())
                #expect(try queued(client) == "1")
                try socket.send(#"{"type":"unsubscribe","rooms":"mine"}"#)
                #expect(try socket.isQuiet())
                #expect(try queued(client) == "0")
            }
            try socket.send(#"{"type":"subscribe","rooms":"mine"}"#)
            try reads.wait(for: 1, client)
            socket.http.close()
            try reads.wait(for: 0, client)
        }
    }

    @Test func `is dropped when a subscription ends before it begins`() throws {
        try withHeldReads { server, client, reads in
            let socket = try WebSocketClient.forRooms(port: server.port, as: "alice")
            try reads.hold(server)
            try socket.send(#"{"type":"subscribe","room":"a","since":0}"#)
            try reads.wait(for: 1, client)
            try socket.send(#"{"type":"unsubscribe","room":"a"}"#)
            try reads.wait(for: 0, client)
            for fields in [HandshakeTests.fields, [HTTPField("Accept", "text/event-stream")]] {
                let opening = try HTTPClient(port: server.port)
                // After one answer, the server notices at once when the client leaves.
                _ = try opening.get("/healthz")
                try opening.write(HTTPClient.bytes(.get, "/v1/rooms/b/live?user=alice", fields: fields))
                try reads.wait(for: 1, client)
                #expect(try client.get("/metrics").text.contains("\nbackscroll_feeds 1\n"))
                opening.reset()
                try reads.wait(for: 0, client)
                #expect(try client.get("/metrics").text.contains("\nbackscroll_feeds 0\n"))
            }
        }
    }

    @Test func `is dropped when the client of its request leaves`() throws {
        try withHeldReads { server, client, reads in
            try client.send("x")
            let waiting = try ["messages", "changes", "members", "messages/1"].map { path in
                let client = try HTTPClient(port: server.port)
                _ = try client.get("/healthz")
                return (client, "/v1/rooms/lobby/\(path)?user=bob")
            }
            try reads.hold(server)
            for (client, target) in waiting { try client.write(HTTPClient.bytes(.get, target)) }
            try reads.wait(for: waiting.count, client)
            for (client, _) in waiting { client.reset() }
            try reads.wait(for: 0, client)
        }
    }

    @Test func `delays no other user, and gets 503 beyond the user's bound`() throws {
        try withHeldReads({ $0.readQueueOfClient = 3 }) { server, client, reads in
            try client.send("x")
            try reads.hold(server)
            let clients = try (0..<5).map { _ in try HTTPClient(port: server.port) }
            for (index, asking) in clients.enumerated() {
                try asking.write(HTTPClient.bytes(.get, "/v1/rooms/lobby/messages?user=mallory"))
                if index < 3 { try reads.wait(for: index + 1, client) }
            }
            for refused in clients[3...] {
                let response = try refused.response()
                #expect(response.status == .serviceUnavailable && response["Retry-After"] == "1")
                #expect(try response.problem.code == "overloaded")
            }
            let other = try HTTPClient(port: server.port)
            try other.write(HTTPClient.bytes(.get, "/v1/rooms/lobby/messages?user=victim"))
            try reads.wait(for: 4, client)
            reads.open()
            #expect(try other.response().status == .ok)
            for client in clients[..<3] { #expect(try client.response().status == .ok) }
        }
    }
}
