import HTTP
import HTTPTypes
import Testing

@Suite("An answer in JSON")
struct ExchangeAnswerTests {
    @Test(arguments: [
        "/healthz", "/v1/rooms/lobby", "/v1/rooms/lobby/messages", "/v1/rooms/lobby/messages/1", "/openapi.json",
    ])
    func `ends with a line feed, which Content-Length counts`(path: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let response = try client.get(path)
            #expect(response.body.suffix(2) == Array("}\n".utf8))
            #expect(response["Content-Length"] == String(response.body.count))
            let head = try client.request(.head, path, body: [])
            #expect(head["Content-Length"] == String(response.body.count))
        }
    }

    @Test func `ends with its last byte if it is compressed`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let response = try client.request(
                .get, "/openapi.json", fields: [HTTPField("Accept-Encoding", "gzip")], body: [])
            // The content's length ends gzip (RFC 1952, section 2.3.1): four bytes, the least significant first.
            let length = response.body.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            #expect(length == (try client.get("/openapi.json").body.count))
        }
    }
}
