import HTTP
import HTTPTypes
import Testing

@Suite("An invalid send")
struct SendRefusalTests {
    /// An invalid body, and the expected refusal.
    struct Case: CustomTestStringConvertible, Sendable {
        var body: String
        var code: String
        var field: String?
        var testDescription: String { body }

        init(_ body: String, _ code: String, _ field: String? = nil) {
            self.body = body
            self.code = code
            self.field = field
        }
    }

    private func expectRefusal(_ status: Int, _ refused: Case, in client: HTTPClient) throws {
        let response = try client.post(refused.body)
        #expect(response.status.code == status)
        #expect(response["Content-Type"] == "application/problem+json")
        let problem = try response.problem
        #expect(problem.status == status)
        #expect(problem.type == "about:blank")
        #expect(problem.code == refused.code)
        #expect(problem.field == refused.field)
        #expect(!problem.detail.isEmpty)
        // An invalid body does not end the connection, and nothing was stored.
        #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 0)
    }

    @Test(arguments: [
        Case("", "invalid_json"), Case("{", "invalid_json"), Case("[]", "invalid_json"), Case("7", "invalid_json"),
        Case("null", "invalid_json"), Case(#""text""#, "invalid_json"), Case("text=hello", "invalid_json"),
        Case(#"{"text":"x"}{}"#, "invalid_json"), Case(#"{"text":"x",}"#, "invalid_json"),
        Case(#"{"text":'x'}"#, "invalid_json"), Case(#"{"text":"x","text":"y"}"#, "invalid_json"),
        Case(#"{"text":"x","data":{"a":1,"a":2}}"#, "invalid_json"), Case(#"{"text":"\ud800"}"#, "invalid_json"),
        Case(#"{"text":"\udc00\ud800"}"#, "invalid_json"), Case("{\"text\":\"a\nb\"}", "invalid_json"),
        Case(#"{"text":"x","data":{"n":01}}"#, "invalid_json"), Case("\u{FEFF}{\"text\":\"x\"}", "invalid_json"),
        Case(#"{"text":7}"#, "invalid_field", "text"), Case(#"{"text":["x"]}"#, "invalid_field", "text"),
        Case(#"{"text":"x","client_message_id":1}"#, "invalid_field", "client_message_id"),
        Case(#"{"text":"x","reply_to":"1"}"#, "invalid_field", "reply_to"),
        Case(#"{"text":"x","reply_to":1.5}"#, "invalid_field", "reply_to"),
        Case(#"{"text":"x","data":[]}"#, "invalid_field", "data"),
        Case(#"{"text":"x","data":"{}"}"#, "invalid_field", "data"),
        Case(#"{"text":"x","attachments":{}}"#, "invalid_field", "attachments"),
        Case(#"{"text":"x","attachments":["u"]}"#, "invalid_field", "attachments[0]"),
        Case(#"{"attachments":[{"type":1,"url":"http://x.example"}]}"#, "invalid_field", "attachments[0].type"),
        Case(
            #"{"attachments":[{"type":"image","url":"http://x.example","width":"1","height":1}]}"#,
            "invalid_field", "attachments[0].width"),
    ])
    func `gets 400 with the field if it cannot be read`(refused: Case) throws {
        try withServer { server in
            try expectRefusal(400, refused, in: HTTPClient(port: server.port))
        }
    }

    @Test(arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]])
    func `gets 400 if it is not UTF-8`(bytes: [UInt8]) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let body = Array(#"{"text":""#.utf8) + bytes + Array(#""}"#.utf8)
            let response = try client.request(.post, "/v1/rooms/lobby/messages?user=a", body: body)
            #expect(response.status == .badRequest)
            #expect(try response.problem.code == "invalid_json")
        }
    }

    @Test(arguments: [
        Case("{}", "empty_message", "text"), Case(#"{"text":""}"#, "empty_message", "text"),
        Case(#"{"text":null,"attachments":[]}"#, "empty_message", "text"),
        Case(#"{"data":{"a":1}}"#, "empty_message", "text"),
        Case(#"{"text":"x","client_message_id":""}"#, "empty_field", "client_message_id"),
        Case(#"{"text":"a\u0000b"}"#, "nul_character", "text"),
        Case(#"{"text":"x","client_message_id":"\u0000"}"#, "nul_character", "client_message_id"),
        Case(#"{"text":"x","data":{"a":"\u0000"}}"#, "nul_character", "data"),
        Case(#"{"text":"x","data":{"\u0000":1}}"#, "nul_character", "data"),
        Case(#"{"attachments":[{"url":"http://x.example"}]}"#, "invalid_attachment", "attachments[0].type"),
        Case(
            #"{"attachments":[{"type":"gif","url":"http://x.example"}]}"#, "invalid_attachment",
            "attachments[0].type"),
        Case(#"{"attachments":[{"type":"link"}]}"#, "invalid_attachment", "attachments[0].url"),
        Case(
            #"{"attachments":[{"type":"link","url":"javascript:alert(1)"}]}"#, "invalid_attachment",
            "attachments[0].url"),
        Case(
            #"{"attachments":[{"type":"image","url":"http://x.example"}]}"#, "size_missing", "attachments[0].width"),
        Case(
            #"{"attachments":[{"type":"image","url":"http://x.example","width":1}]}"#, "size_missing",
            "attachments[0].height"),
        Case(
            #"{"attachments":[{"type":"link","url":"http://x.example"},"#
                + #"{"type":"video","url":"http://x.example","width":0,"height":1}]}"#,
            "size_missing", "attachments[1].width"),
        Case(
            #"{"attachments":[{"type":"file","url":"http://x.example","size":-1}]}"#, "invalid_attachment",
            "attachments[0].size"),
    ])
    func `gets 422 with the field if it is not allowed`(refused: Case) throws {
        try withServer { server in
            try expectRefusal(422, refused, in: HTTPClient(port: server.port))
        }
    }

    @Test(arguments: ["gzip", "identity, br", "x"])
    func `gets 415 for a content coding, before the body is read`(coding: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let target = "/v1/rooms/lobby/messages?user=a"
            let fields = [HTTPField(name: .contentEncoding, value: coding)]
            let response = try client.request(.post, target, fields: fields, body: [0x1F, 0x8B])
            #expect(response.status.code == 415)
            let problem = try response.problem
            #expect(problem.code == "unsupported_media_type" && problem.field == "Content-Encoding")
            #expect(response["Accept-Encoding"] == "identity")
            let plain = [HTTPField(name: .contentEncoding, value: "Identity")]
            #expect(
                try client.request(.post, target, fields: plain, body: Array(#"{"text":"x"}"#.utf8)).status == .created)
        }
    }

    @Test(arguments: [
        "text/html", "text/plain", "image/png", "multipart/form-data; boundary=x", "application/xml", "nonsense",
        "application/json; charset=utf-16",
    ])
    func `gets 415 for a content type other than JSON`(contentType: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let fields = [HTTPField(name: .contentType, value: contentType)]
            let target = "/v1/rooms/lobby/messages?user=a"
            let response = try client.request(.post, target, fields: fields, body: Array(#"{"text":"x"}"#.utf8))
            #expect(response.status.code == 415)
            #expect(try response.problem.code == "unsupported_media_type")
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 0)
        }
    }

    @Test func `does not include a send whose content type is compatible with JSON`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let types = [
                "application/json", "application/json; charset=UTF-8", "application/x-www-form-urlencoded",
                "text/json", "application/vnd.chat+json", "application/octet-stream", "",
            ]
            for type in types {
                let fields = [HTTPField(name: .contentType, value: type)]
                let target = "/v1/rooms/lobby/messages?user=a"
                let response = try client.request(.post, target, fields: fields, body: Array(#"{"text":"x"}"#.utf8))
                #expect(response.status == .created, "\(type)")
            }
        }
    }
}
