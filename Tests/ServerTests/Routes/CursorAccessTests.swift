import HTTP
import HTTPTypes
import Testing

@Suite("A caller without access")
struct CursorAccessTests {
    /// Positions of another history, and beyond the latest revision.
    private static let queries = ["since=other:1", "since=1&epoch=other", "since=99", "since=0"]

    /// Returns the code of the refusal of a request by bob.
    private func code(_ target: String, _ client: HTTPClient, fields: [HTTPField] = []) throws -> String {
        let separator = target.contains("?") ? "&" : "?"
        return try client.get("\(target)\(separator)user=bob", fields: fields).problem.code
    }

    @Test(arguments: [true, false], queries)
    func `to a room learns nothing of cursors`(isBanned: Bool, query: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("x")
            let target = isBanned ? "/v1/rooms/lobby/bans/bob" : "/v1/rooms/lobby"
            let body = isBanned ? #"{"scope":"all"}"# : #"{"visibility":"private"}"#
            let change = try client.request(.put, "\(target)?user=alice", body: Array(body.utf8))
            #expect(change.status.code / 100 == 2)
            let expected = try code("/v1/rooms/lobby", client)
            #expect(expected == (isBanned ? "banned" : "room_not_found") || expected == "not_a_member")
            #expect(try code("/v1/rooms/lobby/changes?\(query)", client) == expected)
            for format in LiveFormat.allCases {
                #expect(try code("/v1/rooms/lobby/live?\(query)", client, fields: format.fields) == expected)
            }
            let socket = try WebSocketClient.forRooms(port: server.port, as: "bob")
            let position = query.split(separator: "&").map { $0.split(separator: "=").map(String.init) }
            let members = position.map { #""\#($0[0])":"\#($0[1])""# }.joined(separator: ",")
            try socket.send(#"{"type":"subscribe","room":"lobby",\#(members)}"#)
            #expect(try socket.frame().errorCode == expected)
        }
    }

    @Test func `to the server learns nothing of cursors of lists`() async throws {
        let root = HTTPField.bearer(try TestToken.of("root", #""admin":true"#))
        let other = HTTPField.bearer(try TestToken.of("other", #""admin":true"#))
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            let body = #"{"scope":"all"}"#
            let ban = try client.request(.put, "/v1/admin/bans/other", fields: [root], body: Array(body.utf8))
            #expect(ban.status == .created)
            for target in [
                "/v1/rooms?cursor=x:0:lobby", "/v1/admin/rooms?cursor=x:0:lobby", "/v1/mentions?cursor=x:0:lobby:1",
                "/v1/search?q=hello&cursor=x:0:lobby:1", "/v1/admin/reports?cursor=x:open:1:1",
            ] {
                #expect(try client.get(target, fields: [root]).problem.code == "cursor_unknown")
                #expect(try client.get(target, fields: [other]).problem.code == "banned")
            }
        }
    }

    @Test
    func
        `to the server, an admin among them, neither changes webhooks nor ends sockets, and sees none if reading is refused`()
        async throws
    {
        let root = HTTPField.bearer(try TestToken.of("root", #""admin":true"#))
        let other = HTTPField.bearer(try TestToken.of("other", #""admin":true"#))
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            _ = try client.request(.put, "/v1/admin/bans/other", fields: [root])
            let body = Array(#"{"url":"https://example.com/"}"#.utf8)
            for (method, target) in [
                (HTTPRequest.Method.put, "/v1/admin/webhooks/a"), (.post, "/v1/admin/webhooks/a/rotate"),
                (.delete, "/v1/admin/webhooks/a"), (.delete, "/v1/admin/users/bob/sockets"),
            ] {
                let answer = try client.request(
                    method, target, fields: [other], body: method == .put ? body : [])
                #expect(try answer.problem.code == "banned", "\(method) \(target)")
            }
            #expect(try client.get("/v1/admin/webhooks", fields: [root]).text.contains(#""webhooks":[]"#))
            #expect(try client.get("/v1/admin/webhooks", fields: [other]).text.contains(#""webhooks":[]"#))
            #expect(try client.get("/v1/admin/webhooks/a", fields: [other]).problem.code == "webhook_not_found")
            _ = try client.request(
                .put, "/v1/admin/bans/other", fields: [root], body: Array(#"{"scope":"all"}"#.utf8))
            for target in ["/v1/admin/webhooks", "/v1/admin/webhooks/a"] {
                #expect(try client.get(target, fields: [other]).problem.code == "banned", "\(target)")
            }
        }
    }
}
