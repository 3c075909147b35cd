import HTTP
import HTTPTypes
import Testing

@Suite("A single message")
struct MessageTests {
    private let messages = "/v1/rooms/lobby/messages"

    @Test func `has the same bytes in the send's answer, under its seq, in pages, in changes and in pushes`() throws {
        try withServer { server in
            let socket = try WebSocketClient(port: server.port)
            let stream = try EventStreamClient(port: server.port)
            try socket.greeting()
            try stream.greeting()
            let client = try HTTPClient(port: server.port)
            let sent = try client.post(
                #"{"client_message_id":"a/1 é","text":"\u0022\\\/\b\n\u001f\u007f\u2028 é 😀","data":{"n":1e400,"z":[ ]},"#
                    + #""attachments":[{"type":"link","url":"http://x.example/?a=1&b=2"}]}"#)
            #expect(sent.status == .created)
            #expect(try client.get("\(messages)/1").body == sent.body)
            #expect(try client.get("\(messages)/by-client-id/a%2F1%20%C3%A9?user=alice").body == sent.body)
            let before = #"{"messages":["# + sent.text + "]"
            #expect(try client.get(messages).text.hasPrefix(before))
            #expect(try client.get("/v1/rooms/lobby/changes").text.hasPrefix(before))
            let pushed = #"{"type":"message","message":"# + sent.text + "}"
            #expect(try String(decoding: socket.next(), as: UTF8.self) == pushed)
            #expect(try String(decoding: stream.next(), as: UTF8.self) == pushed)
            for format in LiveFormat.allCases {
                let late = try format.subscribe(port: server.port, query: "since=0")
                #expect(try late.frame().room != nil)
                #expect(try String(decoding: late.next(), as: UTF8.self) == pushed)
            }
        }
    }

    @Test(arguments: ["2", "0", "9223372036854775807", "18446744073709551616"])
    func `that does not exist gets 404`(seq: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            for room in ["lobby", "unused"] {
                let response = try client.get("/v1/rooms/\(room)/messages/\(seq)")
                #expect(response.status == .notFound)
                #expect(try response.problem.code == "message_not_found")
            }
        }
    }

    @Test(arguments: ["x", "-1", "1.0", "%201"])
    func `with an invalid seq gets 400`(seq: String) throws {
        try withServer { server in
            let response = try HTTPClient(port: server.port).get("\(messages)/\(seq)")
            #expect(response.status == .badRequest)
            #expect(try response.problem.code == "invalid_field")
            #expect(try response.problem.field == "seq")
        }
    }

    @Test func `can be looked up by its client's id only by its sender, in its room`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let sent = try client.post(#"{"client_message_id":"a1","text":"x"}"#)
            #expect(try client.get("\(messages)/by-client-id/a1?user=alice").body == sent.body)
            let misses = [
                "\(messages)/by-client-id/a1?user=bob", "\(messages)/by-client-id/a2?user=alice",
                "\(messages)/by-client-id/A1?user=alice", "/v1/rooms/other/messages/by-client-id/a1?user=alice",
                "\(messages)/by-client-id/?user=alice",
            ]
            for target in misses {
                let response = try client.get(target)
                #expect(response.status == .notFound)
                #expect(try response.problem.code == "message_not_found")
            }
        }
    }
}
