import HTTP
import HTTPTypes
import Testing

@Suite("A deletion over HTTP")
struct DeleteTests {
    @Test func `leaves a tombstone, which every repetition returns`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let sent: ReceivedMessage = try decode(
                client.post(#"{"client_message_id":"a1","text":"hello","data":{"a":1}}"#).body)
            _ = try client.change(.put, "1/reactions/x", as: "bob")
            let response = try client.change(.delete, "1")
            #expect(response.status == .ok && response["ETag"] == "\"3\"")
            let tombstone =
                #"{"room":"lobby","seq":1,"rev":3,"sender":"alice","client_message_id":"a1","#
                + #""created_at":"\#(sent.createdAt)","deleted":true}"#
            #expect(response.text == tombstone)
            for again in [
                try client.change(.delete, "1"), try client.get("/v1/rooms/lobby/messages/1"),
                try client.get("/v1/rooms/lobby/messages/by-client-id/a1?user=alice"),
                try client.post(#"{"client_message_id":"a1","text":"hello","data":{"a":1}}"#),
                try client.change(.delete, "1/reactions/x", as: "bob"),
                try client.change(.delete, "1", ifMatch: "\"1\""),
            ] {
                #expect(again.status == .ok && again["ETag"] == "\"3\"")
                #expect(again.text == tombstone)
            }
            #expect(try client.get("/v1/rooms/lobby/messages").text.hasPrefix(#"{"messages":[\#(tombstone)]"#))
            #expect(try client.get("/v1/rooms/lobby/changes").text.hasPrefix(#"{"messages":[\#(tombstone)]"#))
            // The place stays taken, and so does the id.
            #expect(try client.send("next").seq == 2)
            #expect(
                try client.post(#"{"client_message_id":"a1","text":"other"}"#).problem.code
                    == "client_message_id_reused")
        }
    }

    @Test func `is also for an owner of the room, whoever sent the message`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("by alice, who owns the room with it")
            _ = try client.post(#"{"text":"by bob"}"#, as: "bob")
            let response = try client.change(.delete, "2", as: "alice")
            #expect(response.status == .ok && response.text.contains(#""sender":"bob""#))
            #expect(response.text.contains(#""deleted":true"#) && !response.text.contains("by bob"))
        }
    }

    @Test func `is refused if not allowed`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            let cases: [(String, String?, Int, String)] = [
                ("1", "bob", 403, "not_the_sender"), ("1", nil, 401, "unauthenticated"),
                ("2", "alice", 404, "message_not_found"),
            ]
            for (seq, user, status, code) in cases {
                let response = try client.change(.delete, seq, as: user)
                #expect(response.status.code == status)
                #expect(try response.problem.code == code)
            }
            #expect(try client.change(.delete, "1", in: "unused").problem.code == "message_not_found")
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).rev == 1)
        }
    }

    @Test func `is durable, like edits and reactions`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for text in ["1", "2", "3"] { try client.send(text, id: text) }
            let changed = [
                try client.change(.patch, "1", #"{"text":"one"}"#), try client.change(.put, "2/reactions/x", as: "bob"),
                try client.change(.delete, "3"),
            ]
            try server.restart()
            let again = try HTTPClient(port: server.port)
            for (seq, response) in zip(1..., changed) {
                #expect(try again.get("/v1/rooms/lobby/messages/\(seq)").body == response.body)
                #expect(try again.post(HTTPClient.draft("\(seq)", id: "\(seq)")).body == response.body)
            }
            #expect(try again.change(.put, "2/reactions/x", as: "bob").body == changed[1].body)
            #expect(try again.send("4").rev == 7)
        }
    }
}
