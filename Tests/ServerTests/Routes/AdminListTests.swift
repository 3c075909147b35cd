import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import WebSocket

@Suite("Admins")
struct AdminListTests {
    private let root: String
    private let bob: String

    init() throws {
        root = try TestToken.of("root", #""admin":true"#)
        bob = try TestToken.of("bob")
    }

    private struct Rooms: Decodable {
        struct Room: Decodable {
            var room: String
            var title: String?
            var visibility: String
            var posting: String?
            var slowSeconds: Int?
            var data: [String: Int]?
            var messages: Int
            var members: Int
            var bytes: Int
            var lastActivity: String?
        }
        var rooms: [Room]
        var hasMore: Bool
        var cursor: String?
    }

    private struct User: Decodable {
        struct Room: Decodable, Equatable {
            var room: String
            var role: String
        }
        var user: String
        var rooms: [Room]
        var hasMore: Bool
        var lastActivity: String?
        var sockets: Int
    }

    private func request(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", by token: String, _ server: LiveServer
    ) throws -> Response {
        try HTTPClient(port: server.port).request(method, path, fields: [.bearer(token)], body: Array(body.utf8))
    }

    private func send(_ text: String, to room: String, by token: String, _ server: LiveServer) throws -> Int {
        let sent = try request(.post, "/v1/rooms/\(room)/messages", #"{"text":"\#(text)"}"#, by: token, server)
        guard sent.status == .created else { throw Unexpected(sent) }
        return sent.text.utf8.count
    }

    @Test func `list all rooms by activity, with counts and sizes, before and after messages are filed`() async throws {
        try await withTokenServer { server in
            var bytes: [String: Int] = [:]
            for room in ["a", "b", "c"] {
                for index in 0..<3 { bytes[room, default: 0] += try send("\(index)", to: room, by: bob, server) }
            }
            #expect(
                try request(
                    .put, "/v1/rooms/b",
                    #"{"title":"B","visibility":"private","posting":"owners","slow_seconds":5,"data":{"a":1}}"#,
                    by: bob,
                    server
                ).status == .ok)
            #expect(try request(.put, "/v1/rooms/b/members/carol", by: bob, server).status == .created)
            #expect(try request(.delete, "/v1/rooms/c", by: bob, server).status == .noContent)
            bytes["a"]! += try send("last", to: "a", by: bob, server)
            for round in 0..<2 {
                let first: Rooms = try decode(request(.get, "/v1/admin/rooms?limit=1", by: root, server).body)
                #expect(first.rooms.map(\.room) == ["a"] && first.hasMore, "\(round)")
                #expect(first.rooms[0].messages == 4 && first.rooms[0].members == 1)
                #expect(first.rooms[0].bytes == bytes["a"] && first.rooms[0].lastActivity != nil)
                let cursor = try #require(first.cursor)
                let rest: Rooms = try decode(request(.get, "/v1/admin/rooms?cursor=\(cursor)", by: root, server).body)
                #expect(rest.rooms.map(\.room) == ["b"] && !rest.hasMore && rest.cursor == nil)
                #expect(rest.rooms[0].title == "B" && rest.rooms[0].visibility == "private")
                #expect(rest.rooms[0].members == 2 && rest.rooms[0].bytes == bytes["b"])
                #expect(rest.rooms[0].posting == "owners" && rest.rooms[0].slowSeconds == 5)
                #expect(rest.rooms[0].data == ["a": 1] && first.rooms[0].posting == nil)
                // Stopping the server files all messages.
                if round == 0 { try server.restart() }
            }
            let edited = try request(.patch, "/v1/rooms/a/messages/1", #"{"text":"edited"}"#, by: bob, server)
            #expect(edited.status == .ok)
            let page: Rooms = try decode(request(.get, "/v1/admin/rooms", by: root, server).body)
            let all = try request(.get, "/v1/rooms/a/changes?since=0", by: bob, server)
            let messages = try #require(all.text.firstRange(of: #"],"rev""#)).lowerBound
            // The length of the array's contents, without commas.
            let count = all.text[..<messages].utf8.count - #"{"messages":["#.utf8.count - 3
            #expect(page.rooms.first { $0.room == "a" }?.bytes == count)
        }
    }

    @Test(arguments: [1, 4])
    func `see a user's rooms, last activity and sockets, and can end the sockets`(threads: Int) async throws {
        try await withTokenServer(configure: { $0.threads = threads }) { server in
            for room in ["a", "b", "c"] { _ = try send("1", to: room, by: bob, server) }
            func user(_ query: String = "") throws -> User {
                try decode(request(.get, "/v1/admin/users/bob\(query)", by: root, server).body)
            }
            for _ in 0..<2 {
                let first = try user("?limit=2")
                #expect(first.rooms.map(\.room) == ["a", "b"] && first.hasMore && first.sockets == 0)
                #expect(first.lastActivity != nil)
                let rest = try user("?after=b")
                #expect(rest.rooms == [User.Room(room: "c", role: "owner")] && !rest.hasMore)
                try server.restart()
            }
            let own = try (0..<3).map { _ in
                try WebSocketClient(port: server.port, "/v1/rooms/a/live?access_token=\(bob)")
            }
            let many = try WebSocketClient(port: server.port, "/v1/live?access_token=\(bob)")
            let stream = try EventStreamClient(port: server.port, "/v1/rooms/a/live?access_token=\(bob)")
            for live in own { try live.greeting() }
            try stream.greeting()
            #expect(try many.isQuiet())
            #expect(try user().sockets == 5)
            #expect(try request(.delete, "/v1/admin/users/bob/sockets", by: root, server).status == .noContent)
            for live in own + [many] {
                #expect(try live.frame().errorCode == "disconnected")
                #expect(try live.closeCode() == .tokenExpired)
            }
            #expect(try stream.frame().errorCode == "disconnected")
            #expect(try stream.block() == nil)
            try waitUntil { try user().sockets == 0 }
            try WebSocketClient(port: server.port, "/v1/rooms/a/live?access_token=\(bob)").greeting()
            let nobody: User = try decode(request(.get, "/v1/admin/users/nobody", by: root, server).body)
            #expect(nobody.rooms.isEmpty && nobody.lastActivity == nil && nobody.sockets == 0)
        }
    }

    @Test func `are the only callers: others get 403 forbidden, also in open mode`() async throws {
        let limited = try TestToken.of("root", #""admin":true"#, #""rooms":["*"]"#)
        let targets: [(HTTPRequest.Method, String)] = [
            (.get, "/v1/admin/rooms"), (.get, "/v1/admin/users/bob"), (.delete, "/v1/admin/users/bob/sockets"),
        ]
        try await withTokenServer { server in
            for (method, target) in targets {
                for token in [bob, limited] {
                    let response = try request(method, target, by: token, server)
                    #expect(try response.status == .forbidden && response.problem.code == "forbidden")
                }
            }
        }
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for (method, target) in targets {
                #expect(try client.request(method, target + "?user=root").problem.code == "forbidden")
            }
        }
    }
}
