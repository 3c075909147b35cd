import HTTP
import HTTPTypes
import Testing

@Suite("A send")
struct SendTests {
    @Test func `returns the stored message, with its fields in order, and its URL`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("first")
            let draft = #"""
                {"data":{"b":1, "a":[true]},"reply_to":1,"text":"h\u00e9llo ✓","client_message_id":"a1","unknown":{"x":[]},
                "attachments":[{"thumbhash":"3OcR","height":2,"width":1,"mime":"image/webp","size":9,"title":"t",
                "description":"d","url":"https://x.example/i","type":"image"}]}
                """#
            let response = try client.post(draft)
            #expect(response.status == .created)
            #expect(response["Location"] == "/v1/rooms/lobby/messages/2")
            #expect(response["Content-Type"] == "application/json")
            let expected =
                #"{"room":"lobby","seq":2,"rev":2,"sender":"alice","client_message_id":"a1","text":"héllo ✓","#
                + #""attachments":[{"type":"image","url":"https://x.example/i","width":1,"height":2,"mime":"image/webp","#
                + #""size":9,"title":"t","description":"d","thumbhash":"3OcR"}],"reply_to":1,"#
                + #""data":{"b":1,"a":[true]},"created_at":""#
            #expect(response.text.hasPrefix(expected))
            let end = response.text.dropFirst(expected.count)
            #expect(end.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"}/) != nil)
        }
    }

    @Test func `leaves out fields that are empty, null or false`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let draft =
                #"{"text":"x","client_message_id":null,"attachments":[],"reply_to":null,"data":{},"deleted":true}"#
            let text = try client.post(draft).text
            #expect(text.hasPrefix(#"{"room":"lobby","seq":1,"rev":1,"sender":"alice","text":"x","created_at":"#))
        }
    }

    @Test func `numbers the messages of each room without gaps, with times that never decrease`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            var times = [""]
            for seq in 1...20 {
                for room in ["one", "two"] {
                    let message = try client.send("m\(seq)", to: room)
                    #expect(message.room == room)
                    #expect(message.seq == Int64(seq))
                    #expect(message.rev == Int64(seq))
                    #expect(message.createdAt >= times.last!)
                    times.append(message.createdAt)
                }
            }
        }
    }

    @Test func `that is repeated gets 200 with the first message`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let first = try client.post(
                #"{"client_message_id":"a1","text":"hello","data":{"a":1,"b":[1.50,"é"]},"attachments":null}"#)
            #expect(first.status == .created)
            // The same values in another notation.
            let again = try client.post(
                #"{ "data" : {"b":[15e-1,"\u00e9"],"a":1.0}, "attachments":[], "reply_to":null, "text":"h\u0065llo","#
                    + #""client_message_id":"a1" }"#)
            #expect(again.status == .ok)
            #expect(again["Location"] == nil)
            #expect(again.body == first.body)
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 1)
        }
    }

    @Test func `with an id that another sender or room has used is new`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("a", id: "a1")
            #expect(try client.send("b", id: "a1", as: "bob").seq == 2)
            #expect(try client.send("c", id: "a1", to: "other").seq == 1)
            // Ids are the same if their bytes are.
            #expect(try client.send("d", id: "é").seq == 3)
            #expect(try client.send("e", id: "e\u{301}").seq == 4)
        }
    }

    @Test func `without an id is always new`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            #expect(try client.send("same").seq == 1)
            #expect(try client.send("same").seq == 2)
        }
    }

    @Test(arguments: [
        #"{"client_message_id":"a1","text":"other"}"#,
        #"{"client_message_id":"a1","text":"hello","data":{"a":1}}"#,
        #"{"client_message_id":"a1","text":"hello","reply_to":1}"#,
        #"{"client_message_id":"a1","text":"hello","attachments":[{"type":"link","url":"http://x.example"}]}"#,
        #"{"client_message_id":"a1","attachments":[{"type":"link","url":"http://x.example"}]}"#,
    ])
    func `with an id that was used for other content is refused`(draft: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("first")
            try client.send("hello", id: "a1")
            let response = try client.post(draft)
            #expect(response.status == 422)
            #expect(try response.problem.code == "client_message_id_reused")
            #expect(try response.problem.field == "client_message_id")
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 2)
        }
    }

    @Test func `may reply to any message of its room, and to no other`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for _ in 1...3 { try client.send("elsewhere", to: "other") }
            try client.send("first")
            let reply: ReceivedMessage = try decode(client.post(#"{"text":"x","reply_to":1}"#).body)
            #expect(reply.replyTo == 1)
            for seq in ["0", "-1", "3", "9223372036854775807"] {
                let response = try client.post(#"{"text":"x","reply_to":\#(seq)}"#)
                #expect(response.status == 422)
                #expect(try response.problem.code == "reply_to_not_found")
                #expect(try response.problem.field == "reply_to")
            }
        }
    }

    @Test func `may have attachments of every type and no text`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let types = ["image", "video", "audio", "file", "link"]
            let attachments = types.map { type in
                let size = type == "image" || type == "video" ? #","width":3,"height":4"# : ""
                return #"{"type":"\#(type)","url":"HTTPS://x.example/\#(type)"\#(size)}"#
            }
            let response = try client.post(#"{"attachments":[\#(attachments.joined(separator: ","))]}"#)
            #expect(response.status == .created)
            let message: ReceivedMessage = try decode(response.body)
            #expect(message.text == nil)
            #expect(message.attachments?.map(\.type) == types)
            #expect(message.attachments?.map(\.width) == [3, 3, nil, nil, nil])
        }
    }
}
