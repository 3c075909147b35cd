import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import WebSocket

@Suite("Deleting a room")
struct RoomRemovalTests {
    private static let room = "/v1/rooms/lobby"

    private func delete(as user: String, _ client: HTTPClient) throws -> Response {
        try client.request(.delete, "\(Self.room)?user=\(user)")
    }

    @Test func `is for owners; afterwards every request gets 410 room_deleted, and no list has the room`() throws {
        try withServer({ $0.presence = true }) { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1", id: "a")
            try client.send("2", to: "other")
            #expect(try delete(as: "bob", client).problem.code == "forbidden")
            let deleted = try delete(as: "alice", client)
            #expect(deleted.status == .noContent && deleted.body.isEmpty)
            for path in [
                "", "/messages", "/messages/1", "/messages/by-client-id/a", "/changes", "/members", "/members/alice",
                "/presence", "/live",
            ] {
                let fields = path == "/live" ? HandshakeTests.fields : []
                let response = try client.get("\(Self.room)\(path)?user=alice", fields: fields)
                #expect(response.status == .gone, "\(path)")
                #expect(try response.problem.code == "room_deleted", "\(path)")
            }
            #expect(try client.post(#"{"text":"x"}"#, as: "alice").problem.code == "room_deleted")
            #expect(try client.post(#"{"client_message_id":"a","text":"1"}"#).problem.code == "room_deleted")
            for (method, path, body) in [
                (.put, "", "{}"), (.put, "/read", #"{"seq":1}"#), (.put, "/members/bob", "{}"),
                (.delete, "/members/alice", ""), (.patch, "/messages/1", #"{"text":"y"}"#),
                (.delete, "/messages/1", ""), (.put, "/messages/1/reactions/x", ""), (.delete, "", ""),
            ] as [(HTTPRequest.Method, String, String)] {
                let response = try client.request(
                    method, "\(Self.room)\(path)?user=alice", body: Array(body.utf8))
                #expect(try response.problem.code == "room_deleted", "\(method) \(path)")
            }
            let rooms = try client.get("/v1/rooms?user=alice").text
            #expect(rooms.contains(#""room":"other""#) && !rooms.contains("lobby"))
        }
    }

    @Test(arguments: [1, 4])
    func `ends its subscriptions with room_deleted, on every loop and kind of connection`(threads: Int) throws {
        try withServer({ $0.threads = threads }) { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            try client.send("2", to: "other")
            let own = try (0..<8).map { _ in
                try WebSocketClient(port: server.port, "\(Self.room)/live?user=bob", offersDeflate: true)
            }
            let many = try (0..<8).map { _ in try WebSocketClient.forRooms(port: server.port, as: "bob") }
            let streams = try (0..<8).map { _ in try EventStreamClient(port: server.port, "\(Self.room)/live") }
            let mine = try WebSocketClient.forRooms(port: server.port, as: "alice")
            for socket in own { try socket.greeting() }
            for socket in many { try socket.join("lobby", "other") }
            for stream in streams { try stream.greeting() }
            try mine.send(#"{"type":"subscribe","rooms":"mine"}"#)
            for _ in 0..<2 { try mine.greeting() }
            #expect(try delete(as: "alice", client).status == .noContent)
            for socket in own {
                #expect(try socket.frame().errorCode == "room_deleted")
                #expect(try socket.closeCode() == .roomDeleted)
            }
            for stream in streams {
                #expect(try stream.frame().errorCode == "room_deleted")
                #expect(try stream.block() == nil)
            }
            for socket in many + [mine] { #expect(try socket.frame().errorCode == "room_deleted") }
            try client.send("3", to: "other")
            for socket in many + [mine] { #expect(try socket.message().text == "3") }
            // A later subscription is refused, and the list of own rooms does not contain it.
            try many[0].ask(for: "lobby")
            #expect(try many[0].frame().errorCode == "room_deleted")
            let late = try WebSocketClient.forRooms(port: server.port, as: "alice")
            try late.send(#"{"type":"subscribe","rooms":"mine"}"#)
            #expect(try late.greeting().room == "other")
            #expect(try late.isQuiet())
        }
    }

    @Test func `is also for admins, and survives a restart`() async throws {
        try await withTokenServer { server in
            let alice = try TestToken.of("alice")
            let root = try TestToken.of("root", #""admin":true"#)
            func request(_ method: HTTPRequest.Method, _ path: String, by token: String) throws -> Response {
                let client = try HTTPClient(port: server.port)
                return try client.request(
                    method, Self.room + path, fields: [.bearer(token)], body: Array(#"{"text":"x"}"#.utf8))
            }
            #expect(try request(.post, "/messages", by: alice).status == .created)
            #expect(try request(.delete, "", by: root).status == .noContent)
            try server.restart()
            #expect(try request(.post, "/messages", by: alice).problem.code == "room_deleted")
            #expect(try request(.get, "", by: root).problem.code == "room_deleted")
        }
    }
}
