import HTTP
import HTTPTypes
import Testing

@Suite("The caller, in open mode,")
struct CallerTests {
    private let body = Array(#"{"text":"x"}"#.utf8)
    private let messages = "/v1/rooms/lobby/messages"

    private func sender(_ target: String, _ name: String?, _ client: HTTPClient) throws -> String {
        let fields = name.map { [HTTPField("X-User", $0)] } ?? []
        let response = try client.request(.post, target, fields: fields, body: body)
        guard response.status == .created else { throw Unexpected(response) }
        return try decode(response.body, as: ReceivedMessage.self).sender
    }

    @Test func `is named by the user parameter, by X-User, or by both if they agree`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            #expect(try sender("\(messages)?user=alice", nil, client) == "alice")
            #expect(try sender(messages, "bob", client) == "bob")
            #expect(try sender("\(messages)?user=carol", "carol", client) == "carol")
            #expect(try sender("\(messages)?user=zo%C3%AB", "zoë", client) == "zoë")
            #expect(try sender("\(messages)?user=a%2Bb%40x.example", nil, client) == "a+b@x.example")
        }
    }

    @Test(
        arguments: [
            ("?user=alice", "bob", "bad_request"), ("?user=alice&user=alice", nil, "bad_request"),
            ("?user=", nil, "invalid_user"), ("?user=a%20b", nil, "invalid_user"), ("?user=a+b", nil, "invalid_user"),
            ("?user=..", nil, "invalid_user"), ("", ".", "invalid_user"),
            ("?user=a%0Ab", nil, "invalid_user"), ("", "a b", "invalid_user"),
        ] as [(String, String?, String)])
    func `is refused if the names differ, are invalid, or occur twice`(query: String, name: String?, code: String)
        throws
    {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let fields = name.map { [HTTPField("X-User", $0)] } ?? []
            for method in [HTTPRequest.Method.post, .get] {
                let response = try client.request(
                    method, messages + query, fields: fields, body: method == .post ? body : [])
                #expect(response.status == .badRequest)
                #expect(try response.problem.code == code)
            }
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 0)
        }
    }

    @Test func `is refused if X-User is not UTF-8, as browsers send it, since two names would become the same`() throws
    {
        try withServer { server in
            for name in [[0xE9], [0x61, 0xC3], [0xEF, 0xBF]] as [[UInt8]] {
                let client = try HTTPClient(port: server.port)
                try client.write(
                    Array("POST \(messages) HTTP/1.1\r\nHost: x\r\nX-User: ".utf8) + name
                        + Array("\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
                let response = try client.response()
                #expect(response.status == .badRequest)
                #expect(try response.problem.code == "invalid_user")
            }
        }
    }

    @Test func `is a different one if the name only looks the same`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let fields = [HTTPField("X-User", "e\u{301}")]
            let response = try client.get("\(messages)?user=%C3%A9", fields: fields)
            #expect(try response.problem.code == "bad_request")
        }
    }

    @Test func `is refused if X-User occurs twice, even with the same name`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let fields = [HTTPField("X-User", "alice"), HTTPField("X-User", "alice")]
            let response = try client.get(messages, fields: fields)
            #expect(response.status == .badRequest)
            #expect(try response.problem.code == "bad_request")
        }
    }

    @Test func `needs a name to send and to look up its own message, and none to read`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("x", id: "a1")
            let send = try client.post(#"{"text":"x"}"#, as: nil)
            #expect(send.status == .unauthorized)
            #expect(try send.problem.code == "unauthenticated")
            #expect(try client.get("\(messages)/by-client-id/a1").status == .unauthorized)
            for target in [messages, "\(messages)/1", "/v1/rooms/lobby", "/v1/rooms/lobby/changes"] {
                #expect(try client.get(target).status == .ok)
            }
            try WebSocketClient(port: server.port).greeting()
        }
    }
}
