import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing

@Suite("A server in open mode")
struct HostTests {
    private let messages = "/v1/rooms/lobby/messages"

    /// Sends a request to a host.
    ///
    /// - Returns: The status of the answer.
    private func status(
        of start: String, host: String, by server: LiveServer, fields: String = ""
    ) throws -> Int {
        try ask(start, host: host, of: server, fields: fields).status.code
    }

    /// Sends a request to a host, and reads the answer.
    private func ask(
        _ start: String, host: String, of server: LiveServer, fields: String = "", body: String = ""
    ) throws -> Response {
        let client = try HTTPClient(port: server.port)
        try client.write(
            "\(start) HTTP/1.1\r\nHost: \(host)\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return try client.response()
    }

    @Test func `refuses a request of a page with a rebound name, and stores nothing`() throws {
        try withServer { server in
            let origin = "Origin: http://evil.example:\(server.port)\r\n"
            let response = try ask(
                "POST \(messages)?user=alice", host: "evil.example:\(server.port)", of: server, fields: origin,
                body: #"{"text":"x"}"#)
            #expect(response.status.code == 421)
            #expect(response.status.reasonPhrase == "Misdirected Request")
            let problem = try response.problem
            #expect(problem.code == "host_not_allowed")
            #expect(problem.field == "Host")
            #expect(response.text.contains("--allow-host evil.example."))
            for target in [messages, "/metrics", "/openapi.json", "/docs", "/", "/nowhere", "http://evil.example/"] {
                let refused = try status(of: "GET \(target)", host: "evil.example", by: server)
                #expect(refused == 421, "\(target)")
            }
            let options = try status(of: "OPTIONS *", host: "evil.example", by: server)
            let absolute = try status(of: "GET http://evil.example/", host: "localhost", by: server)
            #expect(options == 421 && absolute == 421)
            #expect(try HTTPClient(port: server.port).read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 0)
        }
    }

    @Test(arguments: ["/v1/rooms/lobby/live", "/v1/live"])
    func `refuses sockets and event streams of such a page`(target: String) throws {
        try withServer { server in
            let lines = HandshakeTests.fields.map { "\($0.name.rawName): \($0.value)\r\n" }.joined()
            let socket = try status(of: "GET \(target)", host: "evil.example", by: server, fields: lines)
            let stream = try status(
                of: "GET \(target)", host: "evil.example", by: server, fields: "Accept: text/event-stream\r\n")
            #expect(socket == 421 && stream == 421)
            let opened = try status(of: "GET \(target)", host: "localhost", by: server, fields: lines)
            #expect(opened == 101)
        }
    }

    @Test func `answers to localhost, IP addresses, its own name and allowed names`() throws {
        try withServer {
            $0.host = "localhost"
            $0.allowedHosts = ["chat.example"]
        } _: { server in
            for host in ["localhost", "LOCALHOST:1", "127.0.0.1:\(server.port)", "[::1]", "10.0.0.7", "chat.example."] {
                let answered = try status(of: "GET \(messages)", host: host, by: server)
                #expect(answered == 200, "\(host)")
            }
        }
    }

    @Test(arguments: ["/healthz", "/readyz", "/readyz?x"])
    func `reports its health under any name`(target: String) throws {
        try withServer { server in
            let answered = try status(of: "GET \(target)", host: "backscroll.internal", by: server)
            let refused = try status(of: "POST \(target)", host: "backscroll.internal", by: server)
            #expect(answered == 200 && refused == 421)
        }
    }

    @Test func `answers to every name with --insecure-open`() throws {
        try withServer {
            $0.insecureOpen = true
        } _: { server in
            let answered = try status(of: "GET \(messages)", host: "evil.example", by: server)
            #expect(answered == 200)
        }
    }

    @Test func `is the only one that checks names: with tokens every name is accepted`() async throws {
        try await withTokenServer { server in
            let token = try TestToken.of("alice")
            let response = try ask(
                "GET \(messages)", host: "chat.example", of: server, fields: "Authorization: Bearer \(token)\r\n")
            #expect(response.status == .ok)
        }
    }

    @Test(arguments: ["*", "http://a", "a:80", ""])
    func `refuses to start with an invalid allowed host`(name: String) throws {
        let error = #expect(throws: ServerError.self) {
            try withServer {
                $0.allowedHosts = [name]
            } _: { _ in
            }
        }
        #expect(error?.description.contains("'\(name)'") == true)
    }
}
