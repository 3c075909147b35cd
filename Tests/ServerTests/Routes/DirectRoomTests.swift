import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import WebSocket

@Suite("A direct room over HTTP")
struct DirectRoomTests {
    private static let id = "@FBpM0kK2foLt9KeLtBjUCm"

    @Test func `is answered to both with the other user, and comes to the other's devices with its first message`()
        throws
    {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let (alice, bob) = (
                try WebSocketClient.forRooms(port: server.port, as: "alice"),
                try WebSocketClient.forRooms(port: server.port, as: "bob")
            )
            for socket in [alice, bob] {
                try socket.send(#"{"type":"subscribe","rooms":"mine"}"#)
                #expect(try socket.isQuiet())
            }
            let made = try client.request(.put, "/v1/direct/bob?user=alice")
            #expect(made.status == .created)
            #expect(
                made.text.hasSuffix(
                    #""read":0,"unread":0,"unread_mentions":0,"visibility":"private","role":"owner","direct":"bob"}"#))
            #expect(try alice.greeting().room == Self.id)
            #expect(try client.request(.put, "/v1/direct/bob?user=alice").status == .ok)
            #expect(try bob.isQuiet())
            #expect(try client.read("/v1/rooms?user=bob", as: ReceivedInbox.self).ids == [])
            #expect(try client.read("/v1/rooms?user=alice", as: ReceivedInbox.self).ids == [Self.id])

            let sent = try client.post(#"{"text":"hi"}"#, to: Self.id)
            #expect(sent["Location"] == "/v1/rooms/\(Self.id)/messages/1")
            #expect(try alice.message().seq == 1)
            // The subscription begins with that message.
            #expect(try bob.frame().room?.room == Self.id)
            #expect(try bob.message().seq == 1)
            #expect(try bob.frame().liveRev == 1)
            let list = try client.get("/v1/rooms?user=bob").text
            #expect(list.contains(#""role":"owner","direct":"alice","last_message":"#))
            // The at sign may be escaped.
            #expect(
                try client.get("/v1/rooms/%40\(Self.id.dropFirst())?user=bob").text.hasSuffix(#""direct":"alice"}"#))

            // Bob's devices hear no more of a room that he has left, until it has a message.
            #expect(try client.request(.delete, "/v1/rooms/\(Self.id)/members/bob?user=bob").status == .noContent)
            while try bob.frame().errorCode != "not_a_member" {}
            #expect(try client.read("/v1/rooms?user=bob", as: ReceivedInbox.self).ids == [])
            try client.send("still there?", to: Self.id)
            #expect(try bob.frame().room?.room == Self.id)
            #expect(try bob.message().seq == 2)
            #expect(try client.read("/v1/rooms?user=bob", as: ReceivedInbox.self).ids == [Self.id])
        }
    }

    @Test func `does not exist before, not even as an empty room`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for path in ["", "/messages", "/changes", "/members"] {
                #expect(try client.get("/v1/rooms/\(Self.id)\(path)?user=alice").problem.code == "room_not_found")
            }
            #expect(try client.post(#"{"text":"x"}"#, to: Self.id).problem.code == "room_not_found")
            #expect(try client.request(.put, "/v1/direct/bob").problem.code == "unauthenticated")
            #expect(try client.request(.put, "/v1/direct/alice?user=alice").problem.code == "direct_room")
        }
    }

    @Test func `is one room when many devices of both ask for it at once`() throws {
        try withServer {
            $0.threads = 2
        } _: { server in
            let port = server.port
            let answers = Recorder<Int>()
            let count = 1_000
            try concurrently(
                (0..<4).map { device in
                    {
                        let client = try HTTPClient(port: port)
                        for start in stride(from: 0, to: count, by: 100) {
                            var bytes: [UInt8] = []
                            for number in start..<start + 100 {
                                let users =
                                    device % 2 == 0 ? ("a\(number)", "b\(number)") : ("b\(number)", "a\(number)")
                                bytes += HTTPClient.bytes(.put, "/v1/direct/\(users.0)?user=\(users.1)")
                            }
                            try client.write(bytes)
                            for _ in 0..<100 { answers.record(try client.response().status.code) }
                        }
                    }
                })
            #expect(answers.events.count { $0 == 201 } == count)
            #expect(answers.events.count { $0 == 200 } == 3 * count)
        }
    }

    @Test func `needs a token that allows it, by its id or by a pattern`() async throws {
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            func status(_ rooms: String) throws -> Int {
                let token = try TestToken.of("alice", #""rooms":["\#(rooms)"]"#)
                return try client.request(.put, "/v1/direct/bob", fields: [.bearer(token)]).status.code
            }
            #expect(try status("lobby") == 403)
            #expect(try [status("@*"), status("*"), status(Self.id)] == [201, 200, 200])
        }
    }

    @Test func `counts against the limit of invites`() throws {
        try withServer {
            $0.limits.userInvites = RateLimit("2/h:2")
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let statuses = try ["bob", "carol", "dave"].map {
                try client.request(.put, "/v1/direct/\($0)?user=alice").status.code
            }
            #expect(statuses == [201, 201, 429])
        }
    }
}
