import HTTP
import HTTPTypes
import Server
import Synchronization
import TestSupport
import Testing

@Suite("A server with limits")
struct LimitedServerTests {
    private let messages = "/v1/rooms/lobby/messages"

    private func expectLimited(_ response: Response, by policy: String) throws {
        #expect(response.status == .tooManyRequests)
        let problem = try response.problem
        #expect(problem.code == "rate_limited" && problem.limit == 1)
        let seconds = try #require(response["Retry-After"].flatMap(Int.init))
        #expect((3500...3600).contains(seconds))
        #expect(response["RateLimit"] == "\"\(policy)\";r=0;t=\(seconds)")
        #expect(response["RateLimit-Policy"]?.hasPrefix("\"\(policy)\";q=1;w=3600;") == true)
    }

    @Test func `answers excess sends with 429 and does not store them; reads and other users are not affected`() throws
    {
        try withServer {
            $0.limits.userSends = RateLimit("1/h:2")
        } _: { server in
            let client = try HTTPClient(port: server.port)
            for text in ["a", "b"] { try client.send(text) }
            for _ in 1...3 { try expectLimited(client.post(#"{"text":"x"}"#), by: "sends-per-user") }
            #expect(try client.send("c", as: "bob").seq == 3)
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 3)
        }
    }

    @Test func `answers excess edits, deletions and reactions with 429 and changes nothing; sends are not affected`()
        throws
    {
        try withServer {
            $0.limits.userChanges = RateLimit("1/h:2")
        } _: { server in
            let client = try HTTPClient(port: server.port)
            try client.send("a")
            #expect(try client.change(.patch, "1", #"{"text":"b"}"#).status == .ok)
            #expect(try client.change(.put, "1/reactions/x").status == .ok)
            try expectLimited(client.change(.patch, "1", #"{"text":"c"}"#), by: "changes-per-user")
            try expectLimited(client.change(.put, "1/reactions/y"), by: "changes-per-user")
            try expectLimited(client.change(.delete, "1/reactions/x"), by: "changes-per-user")
            try expectLimited(client.change(.delete, "1"), by: "changes-per-user")
            #expect(try client.send("d").rev == 4)
        }
    }

    @Test func `counts exactly, also on several loops at once`() throws {
        try withServer {
            $0.threads = 2
            $0.limits.userSends = RateLimit("1/h:50")
        } _: { server in
            let port = server.port
            let stored = Mutex(0)
            let sending: @Sendable () throws -> Void = {
                let client = try HTTPClient(port: port)
                for _ in 1...30 where try client.post(#"{"text":"x"}"#).status == .created {
                    stored.withLock { $0 += 1 }
                }
            }
            try concurrently(Array(repeating: sending, count: 4))
            #expect(stored.withLock { $0 } == 50)
        }
    }

    @Test func `counts the subscriptions of a socket of many rooms`() throws {
        try withServer {
            $0.limits.userSubscriptions = RateLimit("1/h:2")
        } _: { server in
            let socket = try WebSocketClient.forRooms(port: server.port, as: "alice")
            try socket.join("a", "b")
            try socket.ask(for: "c")
            #expect(try socket.frame().errorCode == "rate_limited")
            try WebSocketClient.forRooms(port: server.port, as: "bob").join("c")
        }
    }

    @Test func `limits an address whatever names it uses`() throws {
        try withServer {
            $0.limits.addressSends = RateLimit("1/h:2")
        } _: { server in
            let client = try HTTPClient(port: server.port)
            for user in ["alice", "bob"] { try client.send("x", as: user) }
            try expectLimited(client.post(#"{"text":"x"}"#, as: "carol"), by: "sends-per-address")
        }
    }

    @Test func `refuses excess subscriptions before the upgrade`() throws {
        try withServer {
            $0.limits.userSubscriptions = RateLimit("1/h:2")
        } _: { server in
            let live = "/v1/rooms/lobby/live?user=alice"
            try WebSocketClient(port: server.port, live).greeting()
            try EventStreamClient(port: server.port, live).greeting()
            let client = try HTTPClient(port: server.port)
            try expectLimited(client.get(live, fields: HandshakeTests.fields), by: "subscriptions-per-user")
            try expectLimited(
                client.get(live, fields: [HTTPField("Accept", "text/event-stream")]), by: "subscriptions-per-user")
            try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?user=bob").greeting()
        }
    }

    @Test(arguments: [
        "messages", "messages/1", "messages/by-client-id/a", "changes", "members", "members/alice", "bans",
        "bans/alice",
        "presence", "",
    ])
    func `refuses excess reads of every kind`(path: String) throws {
        try withServer {
            $0.presence = true
            $0.limits.userReads = RateLimit("1/h:2")
            $0.limits.addressReads = RateLimit("1/h:4")
        } _: { server in
            let client = try HTTPClient(port: server.port)
            for user in ["alice", "bob"] {
                let target = "/v1/rooms/lobby\(path.isEmpty ? "" : "/")\(path)?user=\(user)"
                for _ in 1...2 { #expect(try client.get(target).status != .tooManyRequests) }
                try expectLimited(client.get(target), by: "reads-per-user")
            }
            try expectLimited(client.get("/v1/rooms?user=carol"), by: "reads-per-address")
            // Sends and subscriptions have limits of their own.
            try client.send("x", as: "alice")
            try EventStreamClient(port: server.port, "/v1/rooms/lobby/live?user=alice").greeting()
            #expect(try client.get("/healthz").status == .ok)
        }
    }

    @Test func `counts added users by the user who adds them, but not joins and role changes`() throws {
        try withServer {
            $0.limits.userInvites = RateLimit("1/h:2")
            $0.limits.userChanges = RateLimit("1/h:6")
        } _: { server in
            let client = try HTTPClient(port: server.port)
            func put(_ user: String, by actor: String) throws -> Response {
                try client.request(.put, "/v1/rooms/lobby/members/\(user)?user=\(actor)")
            }
            try client.send("x")
            for user in ["bob", "carol"] { #expect(try put(user, by: "alice").status == .created) }
            try expectLimited(put("dave", by: "alice"), by: "invites-per-user")
            #expect(try client.get("/v1/rooms/lobby/members/dave").status == .notFound)
            #expect(try put("dave", by: "dave").status == .created)
            for _ in 1...3 { #expect(try client.read(to: 1, as: "alice").read == 1) }
            #expect(try put("alice", by: "alice").status == .ok)
            try expectLimited(put("alice", by: "alice"), by: "changes-per-user")
        }
    }

    @Test func `answers an excess connection with 429 and closes it`() throws {
        try withServer {
            $0.limits.addressConnections = RateLimit("1/h:2")
        } _: { server in
            let first = try HTTPClient(port: server.port)
            #expect(try first.get("/healthz").status == .ok)
            let second = try HTTPClient(port: server.port)
            #expect(try second.get("/healthz").status == .ok)
            let third = try HTTPClient(port: server.port)
            let response = try third.response()
            try expectLimited(response, by: "connections-per-address")
            #expect(response["Connection"] == "close")
            #expect(try third.endsSilently())
            #expect(try first.get("/healthz").status == .ok)
        }
    }

    @Test func `sends no limit headers without limits`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for _ in 1...200 {
                let response = try client.post(#"{"text":"x"}"#)
                #expect(response.status == .created && response["RateLimit"] == nil)
            }
        }
    }
}
