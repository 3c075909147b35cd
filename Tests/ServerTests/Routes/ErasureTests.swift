import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import WebSocket

@Suite("Erasing a user")
struct ErasureTests {
    private let root: String
    private let bob: String
    private let alice: String

    init() throws {
        root = try TestToken.of("root", #""admin":true"#)
        bob = try TestToken.of("bob")
        alice = try TestToken.of("alice")
    }

    private func request(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", by token: String, _ server: LiveServer
    ) throws -> Response {
        try HTTPClient(port: server.port).request(method, path, fields: [.bearer(token)], body: Array(body.utf8))
    }

    @Test(arguments: [1, 4])
    func `ends the user's sockets, and shows others tombstones of ~deleted`(threads: Int) async throws {
        try await withTokenServer(configure: { $0.threads = threads }) { server in
            for (text, token) in [("1", alice), ("2", bob), ("3", bob)] {
                let sent = try request(
                    .post, "/v1/rooms/lobby/messages", #"{"text":"\#(text)","client_message_id":"\#(text)"}"#,
                    by: token, server)
                #expect(sent.status == .created)
            }
            let own = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?access_token=\(bob)")
            let many = try WebSocketClient(port: server.port, "/v1/live?access_token=\(bob)")
            let other = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?access_token=\(alice)")
            for live in [own, other] { try live.greeting() }
            #expect(try many.isQuiet())
            #expect(try request(.delete, "/v1/users/bob", by: bob, server).problem.code == "forbidden")
            #expect(try request(.get, "/v1/users/bob", by: root, server).problem.code == "erasure_not_found")
            let accepted = try request(.delete, "/v1/users/bob", by: root, server)
            #expect(accepted.status == .accepted)
            #expect(accepted.text == #"{"user":"bob","state":"erasing","messages":0}"#)
            for live in [own, many] {
                #expect(try live.frame().errorCode == "disconnected")
                #expect(try live.closeCode() == .tokenExpired)
            }
            for seq in [2, 3] {
                let message = try other.message()
                #expect(message.seq == Int64(seq) && message.sender == "~deleted" && message.deleted == true)
            }
            try waitUntil {
                try request(.get, "/v1/users/bob", by: root, server).text
                    == #"{"user":"bob","state":"erased","messages":2}"#
            }
            let again = try request(
                .post, "/v1/rooms/lobby/messages", #"{"text":"new","client_message_id":"2"}"#, by: bob, server)
            #expect(again.status == .created)
            try server.restart()
            #expect(try request(.get, "/v1/users/bob", by: root, server).text.contains(#""state":"erased""#))
        }
    }

    @Test func `uses a name that no caller may have`() async throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let sent = try client.post(#"{"text":"x"}"#, as: "~deleted")
            #expect(try sent.status == .badRequest && sent.problem.code == "invalid_user")
            let target = "/v1/rooms/lobby/members/~deleted?user=alice"
            #expect(try client.request(.put, target).problem.code == "invalid_user")
        }
        try await withTokenServer { server in
            let nobody = try TestToken.of("~deleted")
            let response = try request(.get, "/v1/rooms", by: nobody, server)
            #expect(try response.status == .badRequest && response.problem.code == "invalid_user")
        }
    }

    @Test func `is not possible in open mode`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            #expect(try client.request(.delete, "/v1/users/bob?user=root").problem.code == "forbidden")
            #expect(try client.get("/v1/users/bob?user=root").problem.code == "forbidden")
        }
    }
}
