import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import WebSocket

@Suite("Banning")
struct BanTests {
    private static let room = "/v1/rooms/lobby"
    private let root: String
    private let bob: String

    init() throws {
        root = try TestToken.of("root", #""admin":true"#)
        bob = try TestToken.of("bob")
    }

    private func put(_ target: String, _ body: String = "", as user: String, _ client: HTTPClient) throws -> Response {
        try client.request(.put, "\(Self.room)\(target)?user=\(user)", body: Array(body.utf8))
    }

    @Test func `from a room is set, read, listed and lifted over HTTP`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            let body = #"{"scope":"all","until":"2099-01-01T01:00:00+01:00","reason":"spam","x":1}"#
            let set = try put("/bans/bob", body, as: "alice", client)
            #expect(set.status == .created)
            let start = #"{"user":"bob","scope":"all","until":"2099-01-01T00:00:00.000Z","reason":"spam","by":"alice","#
            #expect(set.text.hasPrefix(start))
            #expect(try client.get("\(Self.room)/bans/bob?user=alice").text == set.text)
            #expect(try put("/bans/carol", as: "alice", client).status == .created)
            let list = try client.get("\(Self.room)/bans?user=alice&limit=1").text
            #expect(list == #"{"bans":[\#(set.text)],"has_more":true}"#)
            let refused = try client.get("\(Self.room)?user=bob").problem
            #expect(refused.code == "banned")
            #expect(refused.detail == "You are banned from this room until 2099-01-01T00:00:00.000Z: spam")
            #expect(try client.get("\(Self.room)/bans?user=carol").problem.code == "forbidden")
            #expect(try client.post(#"{"text":"x"}"#, as: "carol").problem.code == "banned")
            #expect(try client.get("\(Self.room)/messages?user=carol").status == .ok)
            for user in ["bob", "carol"] {
                for _ in 0..<2 {
                    let lifted = try client.request(.delete, "\(Self.room)/bans/\(user)?user=alice")
                    #expect(lifted.status == .noContent)
                }
                #expect(try client.get("\(Self.room)/bans/\(user)?user=alice").problem.code == "ban_not_found")
                try client.send("x", as: user)
            }
        }
    }

    @Test func `with an invalid field is refused, and the problem names the field`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            for (body, code, field) in [
                (#"{"scope":"read"}"#, "invalid_field", "scope"), (#"{"until":"tomorrow"}"#, "invalid_field", "until"),
                (#"{"until":"2020-01-01T00:00:00Z"}"#, "ban_over", "until"), ("[]", "invalid_json", nil),
                ("{\"reason\":\"\(String(repeating: "x", count: 257))\"}", "too_long", "reason"),
                (#"{"reason":"\u0000"}"#, "nul_character", "reason"),
            ] as [(String, String, String?)] {
                let problem = try put("/bans/bob", body, as: "alice", client).problem
                #expect(problem.code == code && problem.field == field, "\(body)")
            }
            #expect(try client.get("\(Self.room)/bans/bob?user=alice").problem.code == "ban_not_found")
            #expect(try put("/bans/alice", as: "alice", client).problem.code == "forbidden")
        }
    }

    @Test(arguments: [1, 4])
    func `from a room ends subscriptions at once if it covers reading`(threads: Int) throws {
        try withServer({ $0.threads = threads }) { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            try client.send("2", to: "other")
            let own = try (0..<6).map { _ in try WebSocketClient(port: server.port, "\(Self.room)/live?user=bob") }
            let many = try (0..<6).map { _ in try WebSocketClient.forRooms(port: server.port, as: "bob") }
            let streams = try (0..<6).map { _ in
                try EventStreamClient(port: server.port, "\(Self.room)/live?user=bob")
            }
            let carol = try WebSocketClient(port: server.port, "\(Self.room)/live?user=carol")
            for live in own + [carol] { try live.greeting() }
            for live in streams { try live.greeting() }
            for live in many { try live.join("lobby", "other") }
            #expect(try put("/bans/bob", as: "alice", client).status == .created)
            // A ban from sending ends nothing, but typing is not announced.
            try own[0].send(#"{"type":"typing"}"#)
            #expect(try own[0].frame().errorCode == "banned")
            try client.send("3")
            for live in own + [carol] + many { #expect(try live.message().text == "3") }
            for live in streams { #expect(try live.message().text == "3") }
            #expect(try put("/bans/bob", #"{"scope":"all"}"#, as: "alice", client).status == .ok)
            for live in own {
                #expect(try live.frame().errorCode == "banned")
                #expect(try live.closeCode() == .notMember)
            }
            for live in streams {
                #expect(try live.frame().errorCode == "banned")
                #expect(try live.block() == nil)
            }
            for live in many { #expect(try live.frame().errorCode == "banned") }
            try client.send("4")
            try client.send("5", to: "other")
            #expect(try carol.message().text == "4")
            for live in many { #expect(try live.message().text == "5") }
            try many[0].ask(for: "lobby")
            #expect(try many[0].frame().errorCode == "banned")
            let refused = try client.get("\(Self.room)/live?user=bob", fields: HandshakeTests.fields)
            #expect(try refused.status == .forbidden && refused.problem.code == "banned")
        }
    }

    @Test func `from reading a room takes it out of the user's list of rooms, until it is lifted`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            for path in ["", "/members/bob"] {
                #expect(
                    try put(path, #"{"visibility":"private","title":"Secret"}"#, as: "alice", client).status.code < 300)
            }
            let other = try client.request(.put, "/v1/rooms/other?user=bob", body: Array("{}".utf8))
            #expect(other.status == .created)
            func listed() throws -> [String] {
                let text = try client.get("/v1/rooms?user=bob").text
                return ["lobby", "other"].filter { text.contains(#""room":"\#($0)""#) }
                    + (text.contains("Secret") ? ["!"] : [])
            }
            #expect(try put("/bans/bob", #"{"scope":"send"}"#, as: "alice", client).status == .created)
            #expect(try listed() == ["lobby", "other", "!"])
            #expect(try put("/bans/bob", #"{"scope":"all"}"#, as: "alice", client).status == .ok)
            #expect(try listed() == ["other"])
            #expect(try client.request(.delete, "\(Self.room)/bans/bob?user=alice").status == .noContent)
            #expect(try listed() == ["lobby", "other", "!"])
        }
    }

    @Test(arguments: [1, 4])
    func `from the server is for admins, and ends all sockets`(threads: Int) async throws {
        try await withTokenServer(configure: { $0.threads = threads }) { server in
            let client = try HTTPClient(port: server.port)
            func request(
                _ method: HTTPRequest.Method, _ path: String, _ body: String = "", by token: String
            ) throws -> Response {
                try client.request(method, path, fields: [.bearer(token)], body: Array(body.utf8))
            }
            let target = "/v1/admin/bans/bob"
            #expect(try request(.put, target, by: bob).problem.code == "forbidden")
            let limited = try TestToken.of("root", #""admin":true"#, #""rooms":["lobby"]"#)
            #expect(try request(.get, "/v1/admin/bans", by: limited).problem.code == "forbidden")
            #expect(try request(.post, "\(Self.room)/messages", #"{"text":"1"}"#, by: bob).status == .created)
            let own = try (0..<4).map { _ in
                try WebSocketClient(port: server.port, "\(Self.room)/live?access_token=\(bob)")
            }
            let many = try (0..<4).map { _ in try WebSocketClient(port: server.port, "/v1/live?access_token=\(bob)") }
            let stream = try EventStreamClient(port: server.port, "\(Self.room)/live?access_token=\(bob)")
            for live in own { try live.greeting() }
            for live in many { _ = try live.isQuiet() }
            try stream.greeting()
            #expect(try request(.put, target, #"{"scope":"all"}"#, by: root).status == .created)
            for live in own + many {
                #expect(try live.frame().errorCode == "banned")
                #expect(try live.closeCode() == .notMember)
            }
            #expect(try stream.frame().errorCode == "banned")
            #expect(try stream.block() == nil)
            try server.restart()
            let again = try HTTPClient(port: server.port)
            for path in ["/v1/rooms", Self.room, "\(Self.room)/messages", "/v1/live"] {
                let fields = path == "/v1/live" ? HandshakeTests.fields : []
                let response = try again.get(path, fields: fields + [.bearer(bob)])
                #expect(try response.status == .forbidden && response.problem.code == "banned", "\(path)")
            }
            let list = try again.get("/v1/admin/bans", fields: [.bearer(root)])
            #expect(list.text.hasPrefix(#"{"bans":[{"user":"bob","scope":"all","by":"root","#))
            #expect(try again.request(.delete, target, fields: [.bearer(root)]).status == .noContent)
            #expect(try again.get(Self.room, fields: [.bearer(bob)]).status == .ok)
        }
    }

    @Test(arguments: ["PUT", "DELETE"])
    func `from the server and erasing also end sockets that are about to open`(method: String) async throws {
        var reads: HeldReads!
        try await withTokenServer(configure: { reads = HeldReads(of: &$0) }) { server in
            defer { reads.open() }
            let client = try HTTPClient(port: server.port)
            let sent = try client.request(
                .post, "\(Self.room)/messages", fields: [.bearer(bob)], body: Array(#"{"text":"1"}"#.utf8))
            #expect(sent.status == .created)
            // The log has answered that bob may subscribe, but his socket is not open yet.
            try reads.hold(server, as: bob, on: "\(Self.room)/live", fields: HandshakeTests.fields)
            let isBan = method == "PUT"
            let answer = try client.request(
                isBan ? .put : .delete, isBan ? "/v1/admin/bans/bob" : "/v1/users/bob", fields: [.bearer(root)],
                body: isBan ? Array(#"{"scope":"all"}"#.utf8) : [])
            #expect(answer.status == (isBan ? .created : .accepted))
            reads.open()
            let refused = try reads.response()
            #expect(try refused.problem.code == (isBan ? "banned" : "disconnected"))
        }
    }

    @Test func `from the server is not possible in open mode`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for (method, path) in [(.get, ""), (.get, "/bob"), (.put, "/bob"), (.delete, "/bob")]
                as [(HTTPRequest.Method, String)]
            {
                let response = try client.request(method, "/v1/admin/bans\(path)?user=root")
                #expect(try response.status == .forbidden && response.problem.code == "forbidden")
            }
        }
    }
}
