import HTTP
import HTTPTypes
import Testing

@Suite("Reactions over HTTP")
struct ReactionTests {
    private func reactions(_ response: Response) throws -> [ReceivedMessage.Reaction] {
        guard response.status == .ok else { throw Unexpected(response) }
        return try decode(response.body, as: ReceivedMessage.self).reactions ?? []
    }

    @Test func `are added and removed, and return the message`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            let heart = "1/reactions/%E2%9D%A4%EF%B8%8F"
            let first = try client.change(.put, heart, as: "bob")
            #expect(first["ETag"] == "\"2\"")
            #expect(first.text.contains(#""reactions":[{"key":"❤️","count":1,"users":["bob"]}],"created_at""#))
            #expect(try client.change(.put, heart, "ignored", as: "bob").body == first.body)
            _ = try client.change(.put, heart, as: "carol")
            #expect(
                try reactions(client.change(.put, "1/reactions/a%2Fb%3F", as: "bob")) == [
                    .init(key: "❤️", count: 2, users: ["bob", "carol"]), .init(key: "a/b?", count: 1, users: ["bob"]),
                ])
            let left = try client.change(.delete, heart, as: "bob")
            #expect(try reactions(left)[0] == .init(key: "❤️", count: 1, users: ["carol"]))
            #expect(try client.change(.delete, heart, as: "bob").body == left.body)
            #expect(try client.change(.delete, "1/reactions/never", as: "bob").body == left.body)
            #expect(try client.get("/v1/rooms/lobby/messages/1").body == left.body)
            #expect(left["ETag"] == "\"5\"")
        }
    }

    @Test func `on one message arrive as one change at a client that was away`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            try client.send("2")
            for user in 0..<60 { _ = try client.change(.put, "1/reactions/x", as: "user\(user)") }
            let changes = try client.read("/v1/rooms/lobby/changes?since=2", as: ReceivedChanges.self)
            #expect(changes.messages.map(\.seq) == [1] && changes.rev == 62 && !changes.hasMore)
            let reaction = try #require(changes.messages[0].reactions?.first)
            #expect(reaction.count == 60 && reaction.users == (0..<50).map { "user\($0)" })
        }
    }

    @Test func `stay when a message is pinned, which is pushed and listed`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for text in ["1", "2"] { try client.send(text) }
            let owner = "/v1/rooms/lobby/messages"
            _ = try client.change(.put, "1/reactions/x", as: "bob")
            let refused = try client.change(.put, "1/pin", as: "bob")
            #expect(try refused.status == .forbidden && refused.problem.code == "forbidden")
            let sender = try client.read("\(owner)/1", as: ReceivedMessage.self).sender
            let first = try client.change(.put, "1/pin", as: sender)
            #expect(first["ETag"] == "\"4\"")
            #expect(first.text.contains(#""users":["bob"]}],"pinned":{"by":"\#(sender)","at":""#))
            let second = try client.change(.put, "2/pin", as: sender)
            let list = try client.get("/v1/rooms/lobby/pins")
            #expect(list.text == "{\"messages\":[\(second.text),\(first.text)],\"has_more\":false}")
            let part = try client.get("/v1/rooms/lobby/pins?limit=1")
            #expect(part.text == "{\"messages\":[\(second.text)],\"has_more\":true,\"cursor\":\"5\"}")
            #expect(part["Link"] == "</v1/rooms/lobby/pins?cursor=5&limit=1>; rel=\"next\"")
            let rest = try client.get("/v1/rooms/lobby/pins?cursor=5")
            #expect(rest.text == "{\"messages\":[\(first.text)],\"has_more\":false}")
            #expect(try client.change(.delete, "1/pin", as: sender).text.contains("pinned") == false)
        }
    }

    @Test func `have lists of all who reacted, in parts`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            for user in ["carol", "alice", "bob"] { _ = try client.change(.put, "1/reactions/%E2%9D%A4", as: user) }
            let list = "/v1/rooms/lobby/messages/1/reactions/%E2%9D%A4"
            #expect(try client.get(list).text == #"{"users":["alice","bob","carol"],"has_more":false}"#)
            #expect(try client.get("\(list)?limit=1&after=alice").text == #"{"users":["bob"],"has_more":true}"#)
            #expect(try client.get("/v1/rooms/lobby/messages/1/reactions/x").text == #"{"users":[],"has_more":false}"#)
            #expect(try client.get("/v1/rooms/lobby/messages/2/reactions/x").problem.code == "message_not_found")
            #expect(try client.get("\(list)?limit=1001").problem.code == "invalid_limit")
        }
    }

    @Test func `are refused if not allowed`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            try client.send("2")
            _ = try client.change(.delete, "2")
            for key in 0..<32 { _ = try client.change(.put, "1/reactions/\(key)") }
            let cases: [(HTTPRequest.Method, String, String?, Int, String)] = [
                (.put, "1/reactions/more", "bob", 422, "too_many_reactions"),
                (.put, "2/reactions/x", "bob", 409, "message_deleted"),
                (.put, "3/reactions/x", "bob", 404, "message_not_found"),
                (.delete, "3/reactions/x", "bob", 404, "message_not_found"),
                (.put, "1/reactions/x", nil, 401, "unauthenticated"),
                (.delete, "1/reactions/0", nil, 401, "unauthenticated"),
                (.put, "1/reactions/", "bob", 400, "invalid_reaction"),
                (.put, "1/reactions/a%20b", "bob", 400, "invalid_reaction"),
                (.put, "1/reactions/" + String(repeating: "x", count: 65), "bob", 400, "invalid_reaction"),
                (.put, "1/reactions/%2E", "bob", 400, "invalid_reaction"),
                (.put, "1/reactions/..", "bob", 400, "invalid_reaction"),
                (.put, "1/reactions/%FF", "bob", 400, "target_encoding_invalid"),
                (.put, "x/reactions/1", "bob", 400, "invalid_field"),
            ]
            for (method, path, user, status, code) in cases {
                let response = try client.change(method, path, as: user)
                #expect(response.status.code == status, "\(path)")
                #expect(try response.problem.code == code)
            }
            #expect(try client.change(.put, "1/reactions/more", as: "bob").problem.limit == 32)
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).rev == 35)
        }
    }
}
