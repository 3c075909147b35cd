import HTTP
import HTTPTypes
import TestSupport
import Testing
import WebSocket

@testable import Server

@Suite("An admin")
struct AdminTests {
    private static let room = "/v1/rooms/office"
    private let alice: String
    private let bob: String
    private let root: String

    init() throws {
        alice = try TestToken.of("alice")
        bob = try TestToken.of("bob")
        root = try TestToken.of("root", #""admin":true"#)
    }

    private func request(
        _ client: HTTPClient, _ method: HTTPRequest.Method, _ path: String, _ body: String = "", by token: String
    ) throws -> Response {
        try client.request(method, Self.room + path, fields: [.bearer(token)], body: Array(body.utf8))
    }

    @Test func `reads and changes private rooms that others cannot see, and deletes anybody's messages`() async throws {
        try await withTokenServer(configure: { $0.presence = true }) { server in
            let client = try HTTPClient(port: server.port)
            #expect(try request(client, .put, "", #"{"visibility":"private"}"#, by: alice).status == .created)
            #expect(try request(client, .post, "/messages", #"{"text":"x"}"#, by: alice).status == .created)
            for path in ["", "/messages", "/messages/1", "/changes", "/members", "/presence"] {
                #expect(try request(client, .get, path, by: bob).problem.code == "room_not_found", "\(path)")
                #expect(try request(client, .get, path, by: root).status == .ok, "\(path)")
            }
            #expect(try request(client, .put, "", #"{"title":"Office"}"#, by: root).status == .ok)
            #expect(try request(client, .put, "/members/bob", "{}", by: root).status == .created)
            #expect(try request(client, .delete, "/messages/1", by: bob).problem.code == "not_the_sender")
            let deleted = try request(client, .delete, "/messages/1", by: root)
            #expect(deleted.status == .ok)
            #expect(try decode(deleted.body, as: ReceivedMessage.self).deleted == true)
            #expect(try request(client, .delete, "/members/bob", by: root).status == .noContent)
            #expect(try request(client, .get, "", by: bob).problem.code == "room_not_found")
        }
    }

    @Test(arguments: [1, 2])
    func `follows a private room until a new token is not an admin's`(threads: Int) async throws {
        let plain = try TestToken.of("root")
        try await withTokenServer(configure: { $0.threads = threads }) { server in
            let client = try HTTPClient(port: server.port)
            #expect(try request(client, .put, "", #"{"visibility":"private"}"#, by: alice).status == .created)
            let socket = try WebSocketClient(port: server.port, "\(Self.room)/live?access_token=\(root)")
            let rooms = try WebSocketClient(port: server.port, "/v1/live?access_token=\(root)")
            try socket.greeting()
            try rooms.join("office")
            // She gets nothing about memberships or changes of the room.
            #expect(try request(client, .put, "/members/bob", "{}", by: alice).status == .created)
            #expect(try request(client, .delete, "/members/bob", by: alice).status == .noContent)
            #expect(try request(client, .put, "", #"{"visibility":"open"}"#, by: alice).status == .ok)
            #expect(try request(client, .put, "", #"{"visibility":"private"}"#, by: alice).status == .ok)
            #expect(try request(client, .post, "/messages", #"{"text":"x"}"#, by: alice).status == .created)
            for follower in [socket, rooms] {
                #expect(try follower.message().text == "x")
                try follower.send(#"{"type":"token","token":"\#(plain)"}"#)
            }
            #expect(try socket.closeCode() == .notMember)
            #expect(try rooms.frame().errorCode == "not_a_member")
        }
    }

    @Test func `whose token is limited to rooms is one in these rooms only`() async throws {
        let limited = try TestToken.of("root", #""admin":true"#, #""rooms":["office"]"#)
        let report = #"{"reason":"abuse"}"#
        let decision = #"{"state":"closed","action":"none"}"#
        let profile = #"{"name":"Alice"}"#
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            func ask(
                _ method: HTTPRequest.Method, _ target: String, _ body: String = "", by token: String
            ) throws -> Response {
                try client.request(method, target, fields: [.bearer(token)], body: Array(body.utf8))
            }
            for room in ["office", "kitchen"] {
                #expect(try ask(.post, "/v1/rooms/\(room)/messages", #"{"text":"x"}"#, by: alice).status == .created)
            }
            #expect(try ask(.post, "/v1/rooms/office/messages/1/reports", report, by: bob).status == .accepted)
            for (method, target, body) in [
                (.get, "/v1/admin/reports", ""), (.put, "/v1/admin/reports/office/1", decision),
                (.put, "/v1/admin/bans/bob", "{}"), (.delete, "/v1/users/bob", ""),
                (.put, "/v1/profiles/alice", profile),
            ] as [(HTTPRequest.Method, String, String)] {
                let refused = try ask(method, target, body, by: limited)
                #expect(try refused.problem.code == "forbidden", "\(target)")
            }
            #expect(try ask(.put, "/v1/profiles/root", profile, by: limited).status == .created)
            #expect(try ask(.put, "/v1/profiles/alice", profile, by: root).status == .created)
            #expect(try ask(.put, "/v1/admin/reports/office/1", decision, by: root).status == .ok)
            #expect(try ask(.delete, "/v1/rooms/kitchen", by: limited).problem.code == "room_not_allowed")
            #expect(try ask(.delete, "/v1/rooms/office", by: limited).status == .noContent)
            #expect(try ask(.delete, "/v1/rooms/kitchen", by: root).status == .noContent)
        }
    }

    @Test func `creates rooms where only admins may`() async throws {
        try await withTokenServer(configure: { $0.roomsByAdminsOnly = true }) { server in
            let client = try HTTPClient(port: server.port)
            #expect(
                try request(client, .post, "/messages", #"{"text":"x"}"#, by: alice).problem.code == "room_not_found")
            #expect(try request(client, .put, "", "{}", by: alice).problem.code == "room_not_found")
            #expect(try request(client, .get, "/messages", by: alice).problem.code == "room_not_found")
            let made = try client.request(
                .post, "/v1/rooms/lounge/messages", fields: [.bearer(root)], body: Array(#"{"text":"x"}"#.utf8))
            #expect(made.status == .created)
            #expect(try request(client, .put, "", "{}", by: root).status == .created)
            #expect(try request(client, .post, "/messages", #"{"text":"x"}"#, by: alice).status == .created)
            #expect(try request(client, .get, "/messages", by: bob).status == .ok)
        }
    }
}
