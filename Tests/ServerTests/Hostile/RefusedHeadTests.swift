import HTTP
import HTTPTypes
import Server
import Testing

@Suite("For a request that is refused before it is read completely, the server knows")
struct RefusedHeadTests {
    private let tooLong = "Content-Length: 99999999\r\n\r\n"

    private func counted(_ server: LiveServer) throws -> [String] {
        let response = try HTTPClient(port: server.port).get("/metrics")
        return String(decoding: response.body, as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix("backscroll_http_requests_total") && $0.contains("4xx") && !$0.hasSuffix(" 0") }
    }

    private func refused(_ request: String, by server: LiveServer, isHead: Bool = false) throws -> Response {
        let client = try HTTPClient(port: server.port)
        try client.write(request)
        let response = try client.response(isHead: isHead)
        #expect(!response.keepAlive)
        #expect(try client.endsSilently())
        return response
    }

    @Test func `the method, for the metrics`() throws {
        try withServer { server in
            _ = try refused("PUT /v1/rooms/lobby HTTP/1.1\r\nHost: x\r\n\(tooLong)", by: server)
            #expect(try counted(server) == [#"backscroll_http_requests_total{method="PUT",status="4xx"} 1"#])
            _ = try refused("PUT /\r\n", by: server)
            #expect(
                Set(try counted(server)) == [
                    #"backscroll_http_requests_total{method="PUT",status="4xx"} 1"#,
                    #"backscroll_http_requests_total{method="other",status="4xx"} 1"#,
                ])
        }
    }

    @Test func `that an answer to HEAD has no content`() throws {
        try withServer { server in
            let response = try refused(
                "HEAD /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", by: server, isHead: true)
            #expect(response.status == .badRequest)
            #expect(response.body.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `the page's origin, which may read the reason if it is allowed`(isAllowed: Bool) throws {
        try withServer {
            $0.allowedOrigins = ["https://app.example"]
        } _: { server in
            let origin = isAllowed ? "https://app.example" : "https://evil.example"
            let response = try refused(
                "POST /v1/rooms/lobby/messages HTTP/1.1\r\nHost: x\r\nOrigin: \(origin)\r\n\(tooLong)", by: server)
            #expect(response.status.code == 413)
            #expect(response["Access-Control-Allow-Origin"] == (isAllowed ? origin : nil))
        }
    }
}
