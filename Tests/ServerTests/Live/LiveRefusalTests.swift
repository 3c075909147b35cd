import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import WebSocket

@Suite("A refused WebSocket")
struct SocketRefusalTests {
    private static let lobby = "/v1/rooms/lobby/live"

    /// Expects the socket to open, report the refusal, and close.
    private func expect(
        _ code: String, _ closeCode: CloseCode, room: String?, _ target: String, fields: [HTTPField] = [],
        subprotocols: [String] = ["backscroll.v1"], on server: LiveServer
    ) throws {
        let socket = try WebSocketClient(
            port: server.port, target, fields: fields, subprotocols: subprotocols, offersDeflate: true)
        #expect(socket.subprotocol == "backscroll.v1")
        guard case .error(code, room) = try socket.frame().content else { throw Unexpected("no \(code) of \(target)") }
        guard case .close(closeCode?, let reason) = try socket.event() else { throw Unexpected("no \(closeCode)") }
        #expect(String(decoding: reason, as: UTF8.self) == code)
        try socket.send(.close, ClosePayload(code: closeCode).encoded())
        #expect(try socket.http.socket.receiveToEnd().isEmpty)
    }

    @Test func `reports the reason on the socket to clients that offer backscroll.v1`() throws {
        try withServer {
            $0.faults = true
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let settings = Array(#"{"visibility":"private"}"#.utf8)
            #expect(try client.request(.put, "/v1/rooms/den?user=carol", body: settings).status == .created)
            let lobby = Self.lobby
            try expect("cursor_unknown", .cursorUnknown, room: "lobby", "\(lobby)?since=other:1", on: server)
            try expect("cursor_unknown", .cursorUnknown, room: "lobby", "\(lobby)?since=1", on: server)
            try expect("invalid_cursor", .badRequest, room: "lobby", "\(lobby)?since=x", on: server)
            try expect("bad_request", .badRequest, room: "lobby", "\(lobby)?since=1&since=2", on: server)
            try expect("target_encoding_invalid", .badRequest, room: "lobby", "\(lobby)?since=%zz", on: server)
            try expect("invalid_user", .badRequest, room: "lobby", "\(lobby)?user=a%20b", on: server)
            try expect("invalid_room", .badRequest, room: "a b", "/v1/rooms/a%20b/live", on: server)
            try expect("room_not_found", .roomDeleted, room: "den", "/v1/rooms/den/live?user=bob", on: server)
            try client.send("x", to: "old")
            #expect(try client.request(.delete, "/v1/rooms/old?user=alice").status == .noContent)
            try expect("room_deleted", .roomDeleted, room: "old", "/v1/rooms/old/live?user=alice", on: server)
            try expect("invalid_user", .badRequest, room: nil, "/v1/live?user=a%20b", on: server)
            for (status, code, closeCode) in [
                ("503", "unavailable", CloseCode.unavailable), ("429", "rate_limited", .tooManyFrames),
                ("500", "internal_error", .internalError),
            ] {
                try expect(code, closeCode, room: "lobby", "\(lobby)?fault=status=\(status)", on: server)
                try expect(code, closeCode, room: nil, "/v1/live?fault=status=\(status)", on: server)
            }
            // The member is admitted.
            try WebSocketClient(
                port: server.port, "/v1/rooms/den/live?user=carol", subprotocols: ["backscroll.v1"]
            ).greeting()
            let metrics = try client.get("/metrics").text
            #expect(metrics.contains(#"backscroll_websocket_closes_total{code="4410"} 2"#))
            #expect(metrics.contains(#"backscroll_websocket_closes_total{code="4400"} 6"#))
        }
    }

    @Test func `closes with 4401 for an invalid token, and with 4403 for a room outside the token`() async throws {
        let expired = try TestToken.of("alice", expiringIn: -61)
        let limited = try TestToken.of("alice", #""rooms":["kitchen"]"#)
        try await withTokenServer { server in
            for (target, room) in [(Self.lobby, "lobby"), ("/v1/live", nil)] {
                try expect("token_missing", .tokenExpired, room: room, target, on: server)
                for (token, code) in [("a.b.c", "token_invalid"), (expired, "token_expired")] {
                    try expect(
                        code, .tokenExpired, room: room, target, subprotocols: ["backscroll.v1", "bearer.\(token)"],
                        on: server)
                }
            }
            try expect(
                "room_not_allowed", .notMember, room: "lobby", Self.lobby,
                subprotocols: ["backscroll.v1", "bearer.\(limited)"], on: server)
        }
    }

    @Test func `reports when to retry after a rate limit`() throws {
        try withServer {
            $0.limits.userSubscriptions = RateLimit("1/h:1")
        } _: { server in
            let target = "\(Self.lobby)?user=alice"
            try WebSocketClient(port: server.port, target, subprotocols: ["backscroll.v1"]).greeting()
            let socket = try WebSocketClient(port: server.port, target, subprotocols: ["backscroll.v1"])
            let frame = try JSON(socket.next())
            #expect(frame["code"]?.string == "rate_limited" && frame["room"]?.string == "lobby")
            let seconds = try #require(frame["retry_after"]?.number)
            #expect((3500...3600).contains(seconds))
            #expect(try socket.closeCode() == .tooManyFrames)
        }
    }

    @Test func `gets a status without the subprotocol, with an invalid handshake, and where there is no socket`() throws
    {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let offer = HTTPField("Sec-WebSocket-Protocol", "backscroll.v1")
            func status(_ target: String, _ fields: [HTTPField]) throws -> Int {
                try client.get(target, fields: fields).status.code
            }
            let refused = "\(Self.lobby)?since=other:1"
            #expect(try status(refused, HandshakeTests.fields) == 410)
            #expect(try status(refused, HandshakeTests.fields + [HTTPField("Sec-WebSocket-Protocol", "other")]) == 410)
            #expect(try status(refused, [offer]) == 426)
            #expect(try status(Self.lobby, HandshakeTests.fields.dropLast() + [offer]) == 400)
            for target in ["/v1/nowhere", "/v1/rooms/lobby/messages/1", "/v1/rooms/%zz/live"] {
                #expect(try status(target, HandshakeTests.fields + [offer]) >= 400)
            }
        }
    }

    @Test func `gets only 403 if its page's origin is not allowed`() throws {
        try withServer { server in
            for target in [Self.lobby, "\(Self.lobby)?since=other:1", "/v1/live"] {
                let refused = #expect(throws: Unexpected.self) {
                    try WebSocketClient(
                        port: server.port, target, fields: [HTTPField("Origin", "https://evil.example")],
                        subprotocols: ["backscroll.v1"])
                }
                #expect(refused?.status == 403)
            }
        }
    }

    @Test func `ignores its client's frames and is not harmed by them`() throws {
        try withServer { server in
            let socket = try WebSocketClient(
                port: server.port, "\(Self.lobby)?since=other:1", subprotocols: ["backscroll.v1"])
            for frame in [#"{"type":"typing"}"#, "no JSON"] { try socket.send(frame) }
            try socket.send(.binary, [1])
            #expect(try socket.frame().errorCode == "cursor_unknown")
            #expect(try socket.closeCode() == .cursorUnknown)
        }
    }
}

@Suite("A reconnecting EventSource")
struct EventSourceRefusalTests {
    private static let lobby = "/v1/rooms/lobby/live"

    private static func fields(_ id: String?) -> [HTTPField] {
        [HTTPField("Accept", "text/event-stream")] + (id.map { [HTTPField("Last-Event-ID", $0)] } ?? [])
    }

    /// A refusing answer.
    private struct Refusal {
        var retry: Int
        var id: String?
        var code: String
    }

    /// Requests events after `id`, and expects an answer that refuses with an event and ends.
    private func refusal(
        _ client: HTTPClient, _ query: String = "", after id: String, fields: [HTTPField] = []
    ) throws -> Refusal {
        let response = try client.get(Self.lobby + query, fields: Self.fields(id) + fields)
        guard response.status == .ok else { throw Unexpected(response) }
        #expect(response["Content-Type"] == "text/event-stream")
        #expect(response.fields[values: .cacheControl] == ["no-store"])
        #expect(response["X-Accel-Buffering"] == "no")
        var lines = response.text.split(separator: "\n", omittingEmptySubsequences: false)
        let retry = try #require(lines.removeFirst().wholeMatch(of: /retry: ([0-9]+)/)?.1)
        #expect(lines.removeFirst() == "event: error")
        let id = lines[0].hasPrefix("id: ") ? String(lines.removeFirst().dropFirst(4)) : nil
        let data = try JSON(Array(lines.removeFirst().dropFirst("data: ".count).utf8))
        #expect(lines == ["", ""])
        #expect(data["type"]?.string == "error" && data["room"]?.string == "lobby" && data["message"] != nil)
        return Refusal(retry: Int(retry)!, id: id, code: data["code"]?.string ?? "")
    }

    @Test func `with a position of another history gets an error event, and 204 when it reconnects`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for id in ["other:1", "7"] {
                let refusal = try refusal(client, after: id)
                #expect(
                    refusal.code == "cursor_unknown" && refusal.id == "refused" && (2000...4000).contains(refusal.retry)
                )
                let last = try client.get(Self.lobby, fields: Self.fields(refusal.id))
                #expect(last.status == .noContent)
            }
        }
    }

    @Test func `gets an error event for its token, or for a room that it may not read`() async throws {
        let expired = try TestToken.of("alice", expiringIn: -61)
        let limited = try TestToken.of("alice", #""rooms":["kitchen"]"#)
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            for (token, code) in [
                (expired, "token_expired"), ("a.b.c", "token_invalid"), (limited, "room_not_allowed"),
            ] {
                let refusal = try refusal(client, "?access_token=\(token)", after: "x:1")
                #expect(refusal.code == code && refusal.id == "refused")
            }
            #expect(try refusal(client, after: "x:1").code == "token_missing")
        }
    }

    @Test func `learns when to retry where that helps, and keeps its position`() throws {
        try withServer {
            $0.faults = true
            $0.limits.userSubscriptions = RateLimit("1/h:1")
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let unavailable = try refusal(client, "?fault=status=503", after: "x:1")
            #expect(unavailable.code == "unavailable" && unavailable.id == nil)
            #expect((2000...4000).contains(unavailable.retry))
            #expect(try refusal(client, "?fault=status=500", after: "x:1").id == nil)
            try EventStreamClient(port: server.port, "\(Self.lobby)?user=alice").greeting()
            let limited = try refusal(client, "?user=alice", after: "x:1")
            #expect(limited.code == "rate_limited" && limited.id == nil)
            #expect((3_500_000...7_200_000).contains(limited.retry))
        }
    }

    @Test func `can read the reason if its page's origin is allowed, and not otherwise`() throws {
        try withServer {
            $0.allowedOrigins = ["https://app.example"]
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let allowed = try client.get(
                Self.lobby, fields: Self.fields("other:1") + [HTTPField("Origin", "https://app.example")])
            #expect(allowed.status == .ok && allowed["Access-Control-Allow-Origin"] == "https://app.example")
            let refused = try client.get(
                Self.lobby, fields: Self.fields("other:1") + [HTTPField("Origin", "https://evil.example")])
            #expect(refused.status == .forbidden)
        }
    }

    @Test func `gets a status on its first connection, and with an id that is not the server's`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for (id, query, status) in [(nil, "?since=other:1", 410), ("", "?since=other:1", 410), ("x", "", 400)] {
                #expect(try client.get(Self.lobby + query, fields: Self.fields(id)).status.code == status)
            }
        }
    }
}
