import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Tokens
import WebSocket

@Suite("A socket with a token")
struct TokenSocketTests {
    /// An expiry in seconds from now, without the leeway of 60, that a test can wait for.
    private let soon: Int64 = -57

    @Test func `takes it from a subprotocol, which is not echoed, from a parameter, or from a header`() async throws {
        let (token, other) = (try TestToken.of("alice"), try TestToken.of("bob"))
        try await withTokenServer { server in
            let live = "/v1/rooms/lobby/live"
            let browser = try WebSocketClient(
                port: server.port, live, subprotocols: ["backscroll.v1", "bearer.\(token)"])
            #expect(browser.subprotocol == "backscroll.v1")
            try browser.greeting()
            let bare = try WebSocketClient(port: server.port, live, subprotocols: ["bearer.\(token)"])
            #expect(bare.subprotocol == nil)
            try WebSocketClient(port: server.port, "\(live)?access_token=\(token)").greeting()
            try WebSocketClient(port: server.port, live, fields: [.bearer(token)]).greeting()
            try EventStreamClient(port: server.port, "\(live)?access_token=\(token)").greeting()
            let error = #expect(throws: Unexpected.self) {
                try WebSocketClient(
                    port: server.port, live, fields: [.bearer(other)], subprotocols: ["bearer.\(token)"])
            }
            #expect(error?.status == 400)
        }
    }

    @Test func `is refused before the upgrade without a valid one`() async throws {
        let limited = try TestToken.of("alice", #""rooms":["kitchen"]"#)
        try await withTokenServer { server in
            for (token, status) in [("", 401), ("a.b.c", 401), (limited, 403)] {
                let query = token.isEmpty ? "" : "?access_token=\(token)"
                let target = "/v1/rooms/lobby/live\(query)"
                let socket = #expect(throws: Unexpected.self) { try WebSocketClient(port: server.port, target) }
                #expect(socket?.status == status)
                #expect(throws: Unexpected.self) { try EventStreamClient(port: server.port, target) }
            }
        }
    }

    @Test func `closes with 4401 when the token expires; an event stream just ends`() async throws {
        // Neither waits for its next ping.
        try await withTokenServer(configure: {
            ($0.eventHeartbeat, $0.webSocket.pingInterval) = (.seconds(3600), .seconds(3600))
        }) { server in
            let query = "access_token=\(try TestToken.of("alice", expiringIn: soon))"
            let socket = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?\(query)")
            let stream = try EventStreamClient(port: server.port, "/v1/rooms/lobby/live?\(query)")
            try socket.greeting()
            try stream.greeting()
            #expect(try socket.closeCode() == .tokenExpired)
            #expect(try stream.block() == nil)
            // The cached token is refused as well.
            let response = try HTTPClient(port: server.port).get("/v1/rooms/lobby?\(query)")
            #expect(try response.problem.code == "token_expired")
        }
    }

    @Test func `closes at the token's exp, although requests are accepted a minute longer`() async throws {
        try await withTokenServer { server in
            let query = "access_token=\(try TestToken.of("alice", expiringIn: 3))"
            let socket = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?\(query)")
            try socket.greeting()
            #expect(try socket.closeCode() == .tokenExpired)
            #expect(try HTTPClient(port: server.port).get("/v1/rooms/lobby?\(query)").status == .ok)
        }
    }

    @Test func `continues with a new token of the same user, without an answer, and ends with that one`() async throws {
        try await withTokenServer { server in
            let live = "/v1/rooms/lobby/live?access_token="
            let renewed = try WebSocketClient(port: server.port, live + TestToken.of("alice", expiringIn: soon))
            let shortened = try WebSocketClient(port: server.port, live + TestToken.of("alice"))
            let left = try WebSocketClient(port: server.port, live + TestToken.of("alice", expiringIn: soon))
            for socket in [renewed, shortened, left] { try socket.greeting() }
            try renewed.send(#"{"type":"token","token":"\#(try TestToken.of("alice"))"}"#)
            try shortened.send(#"{"type":"token","token":"\#(try TestToken.of("alice", expiringIn: soon))"}"#)
            #expect(try left.closeCode() == .tokenExpired)
            #expect(try shortened.closeCode() == .tokenExpired)
            try renewed.send(.ping, [7])
            #expect(try renewed.event() == .pong([7]))
        }
    }

    @Test func `ends with a new token that does not allow its room`() async throws {
        try await withTokenServer { server in
            let token = try TestToken.of("alice")
            let socket = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?access_token=\(token)")
            try socket.greeting()
            let narrow = try TestToken.of("alice", #""rooms":["kitchen"]"#)
            try socket.send(#"{"type":"token","token":"\#(narrow)"}"#)
            guard case .error("room_not_allowed", "lobby") = try socket.frame().content else {
                throw Unexpected("no error")
            }
            #expect(try socket.closeCode() == .notMember)
        }
    }

    @Test func `answers an invalid new token with an error, and keeps the old one until its end`() async throws {
        try await withTokenServer { server in
            let old = try TestToken.of("alice", expiringIn: soon + 5)
            let bad = [
                ("a.b.c", "token_invalid"), (try TestToken.of("bob"), "token_invalid"),
                (try TestToken.of("alice", expiringIn: -61), "token_expired"),
                (String(repeating: "x", count: 8193), "token_invalid"),
            ]
            let socket = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?access_token=\(old)")
            try socket.greeting()
            for (token, code) in bad {
                try socket.send(#"{"type":"token","token":"\#(token)"}"#)
                guard case .error(code, "lobby") = try socket.frame().content else { throw Unexpected("no \(code)") }
            }
            #expect(try socket.closeCode() == .tokenExpired)
        }
    }

    @Test func `whose rights change counts each change once for every subscription, towards its limit of frames`()
        async throws
    {
        let plain = try TestToken.of("alice")
        let others = [
            try TestToken.of("alice", #""admin":true"#), try TestToken.of("alice", #""rooms":["room*"]"#),
        ]
        for other in others {
            try await withTokenServer {
                $0.webSocket.framesPerSecondForRooms = 20
                $0.presence = false
            } _: { server in
                let socket = try WebSocketClient(port: server.port, "/v1/live?access_token=\(plain)")
                for room in 0..<6 { try socket.join("room\(room)") }
                // The same rights cost nothing more.
                for _ in 0..<4 { try socket.send(#"{"type":"token","token":"\#(plain)"}"#) }
                #expect(try socket.isQuiet())
                for _ in 0..<6 {
                    for token in [other, plain] {
                        try? socket.send(#"{"type":"token","token":"\#(token)"}"#)
                    }
                }
                #expect(try socket.closeCode() == .tooManyFrames)
            }
        }
    }
}
