import HTTP
import HTTPTypes
import Server
import Testing

// Rooms with messages of the same millisecond are sorted by id; later rooms have lower ids here.
@Suite("The rooms of a user")
struct InboxTests {
    /// Follows the links to the end of the list.
    private func walk(from target: String, _ client: HTTPClient, fields: [HTTPField] = []) throws -> [[String]] {
        var pages: [[String]] = []
        var next: String? = target
        while let target = next {
            let response = try client.get(target, fields: fields)
            guard response.status == .ok else { throw Unexpected(response) }
            let inbox: ReceivedInbox = try decode(response.body)
            pages.append(inbox.ids)
            next = response["Link"].map { String($0.dropFirst().prefix { $0 != ">" }) }
            #expect((next != nil) == inbox.hasMore && (inbox.cursor != nil) == inbox.hasMore)
        }
        return pages
    }

    @Test func `are listed, latest activity first, each with its own state and newest message`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1", to: "den")
            try client.send("2", to: "lobby", as: "bob")
            try client.send("3", to: "lobby")
            _ = try client.request(.put, "/v1/rooms/den/members/bob?user=alice")
            let last = try client.send("4", to: "den")
            _ = try client.request(.put, "/v1/rooms/attic?user=bob", body: Array(#"{"title":"Attic"}"#.utf8))

            let response = try client.get("/v1/rooms?user=bob")
            let inbox: ReceivedInbox = try decode(response.body)
            #expect(inbox.ids == ["attic", "den", "lobby"] && !inbox.hasMore && response["Link"] == nil)
            #expect(inbox.rooms[0].title == "Attic" && inbox.rooms[0].lastMessage == nil)
            #expect(inbox.rooms[1].lastMessage == last)
            #expect(inbox.rooms[1].role == "member" && inbox.rooms[1].unread == 2 && inbox.rooms[1].firstUnread == 1)
            for room in inbox.ids {
                let own = try client.get("/v1/rooms/\(room)?user=bob").text.dropLast()
                #expect(response.text.contains(own))
            }
            #expect(response.text.hasSuffix(#"],"has_more":false,"epoch":"\#(inbox.epoch)"}"#))
            #expect(try client.read("/v1/rooms?user=alice", as: ReceivedInbox.self).ids == ["den"])
            #expect(
                try client.get("/v1/rooms?user=carol").text
                    == #"{"rooms":[],"has_more":false,"epoch":"\#(inbox.epoch)"}"#)
        }
    }

    @Test(arguments: [1, 3, 10, 200])
    func `are paged by links, which keep the limit and no name or token`(limit: Int) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let rooms = (1...10).map { "room\($0)" }
            for room in rooms { try client.send("x", to: room) }
            let fields = [HTTPField("X-User", "alice")]
            let pages = try walk(from: "/v1/rooms?limit=\(limit)", client, fields: fields)
            #expect(pages.joined().sorted() == rooms.sorted() && pages.dropLast().allSatisfy { $0.count == limit })
            #expect(try Array(pages.joined()) == walk(from: "/v1/rooms", client, fields: fields).flatMap { $0 })
            if limit == 3 {
                let response = try client.get("/v1/rooms?limit=3&user=alice")
                let inbox: ReceivedInbox = try decode(response.body)
                let cursor = try #require(inbox.cursor)
                #expect(response["Link"] == "</v1/rooms?cursor=\(cursor)&limit=3>; rel=\"next\"")
                // A room that moves to the front is no longer after the cursor.
                let place = try #require(inbox.rooms[2].lastMessage?.createdAt)
                let last = try #require(pages.last?.last)
                while try client.send("y", to: last).createdAt <= place {}
                let rest = try walk(from: "/v1/rooms?cursor=\(cursor)", client, fields: fields)
                #expect(rest.joined().count == 6)
            }
        }
    }

    @Test func `need a name, a limit in its range and a cursor of this history`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for (query, status, code, field) in [
                ("", 401, "unauthenticated", nil), ("?user=a&limit=0", 400, "invalid_limit", "limit"),
                ("?user=a&limit=201", 400, "invalid_limit", "limit"),
                ("?user=a&cursor=", 400, "invalid_cursor", "cursor"),
                ("?user=a&cursor=x:1:lobby:", 400, "invalid_cursor", "cursor"),
                ("?user=a&cursor=x:1:lobby", 410, "cursor_unknown", "cursor"),
                ("?user=a&limit=1&limit=2", 400, "bad_request", "limit"),
            ] as [(String, Int, String, String?)] {
                let response = try client.get("/v1/rooms\(query)")
                let problem = try response.problem
                #expect(response.status.code == status && problem.code == code && problem.field == field, "\(query)")
            }
            #expect(try client.request(.head, "/v1/rooms?user=a").status == .ok)
            #expect(try client.request(.post, "/v1/rooms?user=a")["Allow"] == "GET, HEAD, OPTIONS")
        }
    }

    @Test func `with a limited token are only those it allows, and for an admin the admin's own`() async throws {
        let alice = try TestToken.of("alice")
        let limited = try TestToken.of("alice", #""rooms":["r*"]"#)
        let admin = try TestToken.of("root", #""admin":true"#)
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            for room in ["red", "blue", "rose"] {
                let made = try client.request(
                    .put, "/v1/rooms/\(room)", fields: [.bearer(alice)],
                    body: Array(#"{"visibility":"private"}"#.utf8))
                #expect(made.status == .created)
            }
            func ids(_ token: String) throws -> Set<String> {
                let response = try client.get("/v1/rooms", fields: [.bearer(token)])
                return Set(try decode(response.body, as: ReceivedInbox.self).ids)
            }
            #expect(try ids(alice) == ["red", "blue", "rose"])
            #expect(try ids(limited) == ["red", "rose"])
            #expect(try ids(admin) == [])
            #expect(try client.get("/v1/rooms").status == .unauthorized)
        }
    }

    @Test func `are the same after a restart`() throws {
        try withServer { server in
            var client = try HTTPClient(port: server.port)
            for room in ["a", "b", "c", "a"] { try client.send("x", to: room) }
            let before = try client.get("/v1/rooms?user=alice").text
            client.close()
            try server.restart()
            client = try HTTPClient(port: server.port)
            #expect(try client.get("/v1/rooms?user=alice").text == before)
        }
    }
}
