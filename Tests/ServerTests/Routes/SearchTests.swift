import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Wire

@Suite("A search by HTTP", .timeLimit(.minutes(30)))
struct SearchTests {
    private struct Hits: Decodable {
        struct Hit: Decodable {
            var message: ReceivedMessage
            var highlights: [[Int]]
        }

        var hits: [Hit]
        var hasMore: Bool
        var cursor: String?
    }

    private func code(_ response: Response) throws -> String {
        let problem: ReceivedProblem = try decode(response.body)
        return problem.code
    }

    @Test func `lists hits with their messages and highlights, page by page`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let first = try client.send("one note", to: "den")
            let second = try client.send("👍 notes", to: "lobby")
            let page: Hits = try client.read("/v1/search?q=note&limit=1&user=alice", as: Hits.self)
            #expect(page.hits.map(\.message) == [second] && page.hits[0].highlights == [[3, 7]] && page.hasMore)
            let cursor = try #require(page.cursor)
            let rest: Hits = try client.read("/v1/search?q=note&limit=1&cursor=\(cursor)&user=alice", as: Hits.self)
            #expect(rest.hits.map(\.message) == [first] && !rest.hasMore && rest.cursor == nil)
            let room = try client.get("/v1/rooms/den/search?q=note&sender=alice&user=bob")
            #expect(room.text.hasPrefix(#"{"hits":[{"message":{"room":"den","seq":1,"#))
            #expect(room.text.contains(#","highlights":[[4,8]]}],"has_more":false,"epoch":""#))
            #expect(try client.read("/v1/search?q=note&user=bob", as: Hits.self).hits.isEmpty)
        }
    }

    @Test(arguments: [
        ("", "query_invalid"), ("q=", "query_invalid"), ("q=-a", "query_invalid"),
        ("q=a&sender=%20", "invalid_user"),
        ("q=a&has=x", "invalid_field"), ("q=a&limit=201", "invalid_limit"), ("q=a&before=x", "invalid_cursor"),
        ("q=a&after=read", "invalid_cursor"), ("q=a&cursor=1", "invalid_cursor"),
        ("q=a&cursor=x:0:lobby:1", "cursor_unknown"),
    ])
    func `refuses what is wrong with the field and the code`(query: String, expected: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("a")
            for path in ["/v1/search", "/v1/rooms/lobby/search"] {
                let response = try client.get("\(path)?user=alice&\(query)")
                #expect(try code(response) == expected)
                if expected == "query_invalid" { #expect(response.text.contains(#""field":"q""#)) }
            }
        }
    }

    @Test func `needs a name, and is not offered by a server that does not search`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            #expect(try client.get("/v1/search?q=a").status == .unauthorized)
            #expect(try client.get("/v1/rooms/lobby/search?q=a").status == .unauthorized)
            #expect(try code(client.get("/v1/search?q=a&before=5&user=alice")) == "invalid_cursor")
        }
        try withServer {
            $0.search = false
        } _: { server in
            let client = try HTTPClient(port: server.port)
            for path in ["/v1/search", "/v1/rooms/lobby/search"] {
                #expect(try code(client.get("\(path)?q=a&user=alice")) == "not_available")
            }
        }
    }

    @Test func `is refused for a while with the progress while the first index is built`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("a")
            let database = try Database(of: server.configuration)
            var refusal: Response?
            // The server may be about to note that all is indexed.
            try waitUntil {
                try database.execute("INSERT INTO meta VALUES ('search_building', '42') ON CONFLICT DO NOTHING")
                let response = try client.get("/v1/search?q=a&user=alice")
                if response.status == .serviceUnavailable { refusal = response }
                return refusal != nil
            }
            let response = try #require(refusal)
            #expect(try code(response) == "index_building" && response["Retry-After"] == "5")
            #expect(response.text.contains("42 % are done"))
        }
    }

    @Test func `counts against a limit of its own`() throws {
        try withServer {
            $0.limits.userSearches = RateLimit("1/h:2")
        } _: { server in
            let client = try HTTPClient(port: server.port)
            #expect(try client.get("/v1/search?q=a&user=alice").status == .ok)
            #expect(try client.get("/v1/rooms/lobby/search?q=a&user=alice").status == .ok)
            let refused = try client.get("/v1/search?q=a&user=alice")
            #expect(
                refused.status == .tooManyRequests
                    && refused["RateLimit-Policy"]?.hasPrefix("\"searches-per-user\"") == true)
            #expect(try client.get("/v1/rooms/lobby?user=alice").status == .ok)
            #expect(try client.get("/v1/search?q=a&user=bob").status == .ok)
        }
    }
}
