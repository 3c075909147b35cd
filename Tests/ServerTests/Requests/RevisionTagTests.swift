import HTTP
import HTTPTypes
import Testing

@Suite("A message's revision as its ETag")
struct RevisionTagTests {
    private let message = "/v1/rooms/lobby/messages/1"

    @Test func `is in every answer with a single message`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            #expect(try client.post(#"{"client_message_id":"a1","text":"1"}"#)["ETag"] == "\"1\"")
            #expect(try client.get(message)["ETag"] == "\"1\"")
            #expect(try client.get("/v1/rooms/lobby/messages/by-client-id/a1?user=alice")["ETag"] == "\"1\"")
            #expect(try client.post(#"{"client_message_id":"a1","text":"1"}"#)["ETag"] == "\"1\"")
            #expect(try client.change(.put, "1/reactions/x")["ETag"] == "\"2\"")
            #expect(try client.get("/v1/rooms/lobby/messages")["ETag"] == nil)
            #expect(try client.get("/v1/rooms/lobby/messages/9")["ETag"] == nil)
        }
    }

    @Test(arguments: [
        (#""2""#, true), ("*", true), (#""1", "2""#, true), (#""x",W/"2" ,"2""#, true), (#""1""#, false),
        (#""3""#, false), (#"W/"2""#, false), ("2", false), (#""02""#, false), (#""+2""#, false), (#""2"#, false),
        ("", false), (#""""#, false), ("\"2,1\"", false),
    ])
    func `in a condition must be the current one`(tags: String, holds: Bool) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            _ = try client.change(.patch, "1", #"{"text":"2"}"#)
            if !holds {
                for (method, path, body) in [
                    (.patch, "1", #"{"text":"3"}"#), (.delete, "1", ""), (.put, "1/reactions/x", ""),
                ] as [(HTTPRequest.Method, String, String)] {
                    let response = try client.change(method, path, body, ifMatch: tags)
                    #expect(response.status.code == 412)
                    let problem = try response.problem
                    #expect(problem.code == "precondition_failed" && problem.title == "Precondition Failed")
                    #expect(problem.detail.contains("\"2\"") && problem.field == "If-Match")
                }
                #expect(try client.get(message)["ETag"] == "\"2\"")
            } else {
                let response = try client.change(.patch, "1", #"{"text":"3"}"#, ifMatch: tags)
                #expect(response.status == .ok && response["ETag"] == "\"3\"")
            }
        }
    }

    @Test func `does not refuse an edit that is repeated after a lost answer`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            for _ in 1...2 {
                let response = try client.change(.patch, "1", #"{"text":"2"}"#, ifMatch: #""1""#)
                #expect(response.status == .ok && response["ETag"] == "\"2\"")
            }
            #expect(try client.change(.patch, "1", #"{"text":"3"}"#, ifMatch: #""1""#).status.code == 412)
        }
    }

    @Test func `may be in any of several If-Match lines`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            let fields = [HTTPField("If-Match", "\"7\""), HTTPField("If-Match", "\"1\"")]
            let response = try client.request(
                .patch, message + "?user=alice", fields: fields, body: Array(#"{"text":"x"}"#.utf8))
            #expect(response.status == .ok)
        }
    }

    @Test(arguments: [
        (#""2""#, true), (#"W/"2""#, true), ("*", true), (#""1", "2""#, true), (#""1""#, false), ("2", false),
    ])
    func `saves the content for clients that have it`(tags: String, isKnown: Bool) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            _ = try client.change(.put, "1/reactions/x")
            for method in [HTTPRequest.Method.get, .head] {
                let response = try client.request(method, message, fields: [HTTPField("If-None-Match", tags)])
                #expect(response.status.code == (isKnown ? 304 : 200))
                #expect(response["ETag"] == "\"2\"")
                #expect(response.body.isEmpty == (isKnown || method == .head))
            }
        }
    }
}
