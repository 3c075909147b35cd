import HTTP
import HTTPTypes
import Server
import Testing

@Suite("Pages of other origins")
struct OriginTests {
    private let messages = "/v1/rooms/lobby/messages"

    private func from(_ origin: String) -> [HTTPField] {
        [HTTPField("Origin", origin)]
    }

    private func send(_ client: HTTPClient, from origin: String) throws -> Response {
        try client.request(.post, "\(messages)?user=a", fields: from(origin), body: Array(#"{"text":"x"}"#.utf8))
    }

    @Test func `are refused unless allowed, also for sends and sockets`() throws {
        try withServer {
            $0.allowedOrigins = ["https://app.example"]
        } _: { server in
            let client = try HTTPClient(port: server.port)
            for origin in [
                "https://evil.example", "null", "http://app.example", "https://app.example:8443", "nonsense",
            ] {
                let response = try send(client, from: origin)
                #expect(response.status == .forbidden)
                #expect(try response.problem.code == "origin_not_allowed")
                #expect(response["Access-Control-Allow-Origin"] == nil)
                #expect(try client.get(messages, fields: from(origin)).status == .forbidden)
                let refused = #expect(throws: Unexpected.self) {
                    try WebSocketClient(port: server.port, fields: from(origin))
                }
                #expect(refused?.status == 403)
                #expect(throws: Unexpected.self) {
                    try EventStreamClient(port: server.port, lines: ["Origin: \(origin)"])
                }
            }
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 0)
        }
    }

    @Test(arguments: ["cross-site", "same-site"])
    func `open no event stream without CORS either`(site: String) throws {
        try withServer {
            $0.allowedOrigins = ["*"]
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let refused = try client.get(
                "/v1/rooms/lobby/live?user=alice",
                fields: [HTTPField("Sec-Fetch-Site", site), HTTPField("Accept", "text/event-stream")])
            #expect(try refused.problem.code == "origin_not_allowed")
            // With CORS, and from the server's own page.
            try EventStreamClient(
                port: server.port, lines: ["Sec-Fetch-Site: \(site)", "Origin: https://app.example"]
            ).greeting()
            for own in ["same-origin", "none"] {
                try EventStreamClient(port: server.port, lines: ["Sec-Fetch-Site: \(own)"]).greeting()
            }
        }
    }

    @Test func `are told to take no answer for another type`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("<script>")
            for target in [
                "/", "/page/screen.js", messages, "/nowhere", "/metrics", "/healthz", "/docs", "/openapi.json",
            ] {
                #expect(try client.get(target).fields[values: .xContentTypeOptions] == ["nosniff"], "\(target)")
            }
            let stream = try EventStreamClient(port: server.port)
            #expect(stream.head.contains { $0.lowercased() == "x-content-type-options: nosniff" })
        }
    }

    @Test func `that are allowed can read answers, refusals included, and open sockets`() throws {
        try withServer {
            $0.allowedOrigins = ["https://app.example"]
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let sent = try send(client, from: "https://app.example")
            #expect(sent.status == .created)
            for response in [
                sent, try client.get("\(messages)?limit=0", fields: from("https://app.example")),
                try client.get("/nowhere", fields: from("https://app.example")),
                try client.get("/v1/rooms/%zz", fields: from("https://app.example")),
                try client.request(.delete, messages, fields: from("https://app.example")),
            ] {
                #expect(response["Access-Control-Allow-Origin"] == "https://app.example")
                #expect(response["Vary"] == "Origin")
                let exposed = response["Access-Control-Expose-Headers"] ?? ""
                #expect(exposed.contains("Location") && exposed.contains("ETag"))
            }
            try WebSocketClient(port: server.port, fields: from("https://app.example")).greeting()
            let stream = try EventStreamClient(port: server.port, lines: ["Origin: https://app.example"])
            #expect(stream.head.contains { $0.lowercased() == "access-control-allow-origin: https://app.example" })
        }
    }

    @Test(arguments: ["https://app.example", "*"])
    func `do not share cached answers with others`(allowed: String) throws {
        try withServer {
            $0.allowedOrigins = [allowed]
        } _: { server in
            let client = try HTTPClient(port: server.port)
            for fields in [[], from("https://evil.example"), from("https://app.example"), from("http://test.example")] {
                for path in [messages, "/", "/nowhere", "/healthz", "/openapi.json", "/v1/rooms/%zz"] {
                    let response = try client.get(path, fields: fields)
                    #expect(response.fields[values: .vary].contains("Origin"), "\(path) \(response.status)")
                }
                let asking = [HTTPField("Access-Control-Request-Method", "POST")]
                let response = try client.request(.options, messages, fields: fields + asking)
                #expect(response.fields[values: .vary] == ["Origin"])
            }
        }
        try withServer { server in
            let response = try HTTPClient(port: server.port).get(messages)
            #expect(response["Vary"] == nil)
        }
    }

    @Test func `are all allowed with *`() throws {
        try withServer {
            $0.allowedOrigins = ["*"]
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let sent = try send(client, from: "https://any.example")
            #expect(sent.status == .created)
            #expect(sent["Access-Control-Allow-Origin"] == "*")
            try WebSocketClient(port: server.port, fields: from("null")).greeting()
        }
    }

    @Test func `do not include the server's own origin`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let response = try send(client, from: "http://test.example")
            #expect(response.status == .created)
            #expect(response["Access-Control-Allow-Origin"] == nil)
            try WebSocketClient(port: server.port, fields: from("http://test.example")).greeting()
        }
    }

    @Test func `send preflight requests, and are told what they may send`() throws {
        try withServer {
            $0.allowedOrigins = ["https://app.example"]
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let asking = [
                HTTPField("Access-Control-Request-Method", "POST"),
                HTTPField("Access-Control-Request-Headers", "content-type,x-user"),
            ]
            let allowed = try client.request(.options, messages, fields: from("https://app.example") + asking)
            #expect(allowed.status == .noContent)
            #expect(allowed["Access-Control-Allow-Origin"] == "https://app.example")
            let methods = allowed["Access-Control-Allow-Methods"] ?? ""
            for method in ["GET", "POST", "PATCH", "PUT", "DELETE"] { #expect(methods.contains(method)) }
            let headers = allowed["Access-Control-Allow-Headers"]?.lowercased() ?? ""
            for name in [
                "content-type", "x-user", "authorization", "last-event-id", "if-match", "if-none-match", "traceparent",
            ] {
                #expect(headers.contains(name))
            }
            #expect(allowed.fields[values: HTTPField.Name("Access-Control-Allow-Origin")!].count == 1)
            let refused = try client.request(.options, messages, fields: from("https://evil.example") + asking)
            #expect(refused.status == .forbidden)
            #expect(refused["Access-Control-Allow-Origin"] == nil)
        }
    }
}
