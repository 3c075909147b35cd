import HTTP
import HTTPTypes
import Testing

@Suite("An edit over HTTP")
struct EditTests {
    @Test func `returns the message as it is now, which everybody reads from then on`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("first")
            let sent = try client.post(
                #"{"client_message_id":"a1","text":"hello","reply_to":1,"attachments":[{"type":"link","url":"http://x"}],"#
                    + #""data":{"a":1}}"#)
            let before: ReceivedMessage = try decode(sent.body)
            let response = try client.change(.patch, "2", #"{"text":"bye","data":null,"reply_to":9,"seq":7}"#)
            #expect(response.status == .ok)
            #expect(response["ETag"] == "\"3\"" && response["Location"] == nil)
            let after: ReceivedMessage = try decode(response.body)
            var expected = before
            (expected.text, expected.rev, expected.editedAt) = ("bye", 3, after.editedAt)
            #expect(after == expected)
            #expect(after.editedAt! >= after.createdAt && !response.text.contains("data"))
            #expect(try client.get("/v1/rooms/lobby/messages/2").body == response.body)
            #expect(try client.get("/v1/rooms/lobby/messages/by-client-id/a1?user=alice").body == response.body)
            #expect(try client.get("/v1/rooms/lobby/messages").text.contains(response.text))
            #expect(
                try client.get("/v1/rooms/lobby/changes?since=2").text.hasPrefix(#"{"messages":[\#(response.text)]"#))
            // A repeated send returns the message as it is now.
            let again = try client.post(
                #"{"client_message_id":"a1","text":"hello","reply_to":1,"attachments":[{"type":"link","url":"http://x"}],"#
                    + #""data":{"a":1.0}}"#)
            #expect(again.status == .ok)
            #expect(again.body == response.body && again["ETag"] == "\"3\"")
            let reuse = try client.post(#"{"client_message_id":"a1","text":"bye"}"#)
            #expect(try reuse.problem.code == "client_message_id_reused")
        }
    }

    @Test func `that changes nothing returns the unchanged message`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let sent = try client.post(#"{"text":"hello"}"#)
            for body in ["{}", #"{"text":"hello","data":{},"attachments":null}"#] {
                let response = try client.change(.patch, "1", body)
                #expect(response.status == .ok)
                #expect(response.body == sent.body && response["ETag"] == "\"1\"")
            }
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).rev == 1)
        }
    }

    @Test(
        arguments: [
            ("1", #"{"text":"x"}"#, "bob", 403, "not_the_sender"), ("1", #"{"text":"x"}"#, nil, 401, "unauthenticated"),
            ("9", #"{"text":"x"}"#, "alice", 404, "message_not_found"), ("1", "", "alice", 400, "invalid_json"),
            ("0", #"{"text":"x"}"#, "alice", 404, "message_not_found"),
            ("1", #"{"text":7}"#, "alice", 400, "invalid_field"), ("1", #"{"text":""}"#, "alice", 422, "empty_message"),
            ("1", #"{"text":"\u0000"}"#, "alice", 422, "nul_character"),
            ("2", #"{"text":"x"}"#, "alice", 409, "message_deleted"), ("x", "{}", "alice", 400, "invalid_field"),
        ] as [(String, String, String?, Int, String)])
    func `is refused if not allowed`(seq: String, body: String, user: String?, status: Int, code: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            try client.send("2")
            _ = try client.change(.delete, "2")
            let response = try client.change(.patch, seq, body, as: user)
            #expect(response.status.code == status)
            #expect(try response.problem.code == code)
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).rev == 3)
        }
    }

    @Test func `with a content type other than JSON is refused`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            for (type, status) in [
                ("text/html", 415), ("application/json", 200), ("application/merge-patch+json", 200),
            ] {
                let response = try client.request(
                    .patch, "/v1/rooms/lobby/messages/1?user=alice", fields: [HTTPField("Content-Type", type)],
                    body: Array(#"{"text":"x"}"#.utf8))
                #expect(response.status.code == status)
            }
        }
    }
}
