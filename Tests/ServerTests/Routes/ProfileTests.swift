import HTTP
import HTTPTypes
import Testing

@Suite("A profile of a user")
struct ProfileTests {
    @Test func `is set, and read with others, from caches for a minute`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            func set(_ user: String, _ body: String, as caller: String? = nil) throws -> Response {
                try client.request(.put, "/v1/profiles/\(user)?user=\(caller ?? user)", body: Array(body.utf8))
            }
            let created = try set("bob", #"{"name":"Bob","avatar":"https://x/y"}"#)
            #expect(created.status == .created)
            #expect(created.text == #"{"user":"bob","name":"Bob","avatar":"https://x/y"}"#)
            #expect(try set("bob", #"{"data":{"a":1}}"#).status == .ok)
            #expect(try set("bob", "{}", as: "alice").problem.code == "forbidden")
            let read = try client.get("/v1/profiles?users=alice,bob")
            #expect(
                read.text == #"{"profiles":[{"user":"bob","name":"Bob","avatar":"https://x/y","data":{"a":1}}]}"#)
            #expect(read.fields[.cacheControl] == "private, max-age=60")
            let tag = try #require(read.fields[.eTag])
            let condition = HTTPField(name: .ifNoneMatch, value: tag)
            let known = try client.get("/v1/profiles?users=bob", fields: [condition])
            #expect(known.status == .notModified && known.fields[.eTag] == tag)
            #expect(known.fields[.cacheControl] == "private, max-age=60")
            #expect(try set("bob", #"{"name":"Robert"}"#).status == .ok)
            #expect(try client.get("/v1/profiles?users=bob", fields: [condition]).status == .ok)
        }
    }

    @Test func `is in a list of members that asks for it`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            let body = Array(#"{"name":"Alice"}"#.utf8)
            #expect(try client.request(.put, "/v1/profiles/alice?user=alice", body: body).status == .created)
            let members = "/v1/rooms/lobby/members"
            #expect(
                try client.get("\(members)?profiles=true").text
                    == #"{"members":[{"user":"alice","role":"owner","profile":{"user":"alice","name":"Alice"}}],"has_more":false}"#
            )
            #expect(try !client.get(members).text.contains("profile"))
            #expect(try client.get("\(members)?profiles=maybe").problem.code == "invalid_field")
        }
    }
}
