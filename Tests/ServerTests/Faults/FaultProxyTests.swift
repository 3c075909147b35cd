import Faults
import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Transport
import WebSocket

@Suite("A fault proxy in front of a server")
struct FaultProxyTests {
    private static let fault503 = HTTPField("Backscroll-Fault", "status=503:1")

    private func withProxy(before url: String, tls: ClientTLS.Trust = .system, _ body: (Int) throws -> Void) throws {
        let upstream = try #require(try Upstream(url, trust: tls))
        let proxy = try FaultProxy(before: upstream, host: "127.0.0.1", port: 0)
        defer { proxy.stop() }
        try body(proxy.port)
    }

    @Test func `passes tokens on, and injects faults that the server itself ignores`() async throws {
        let token = HTTPField.bearer(try TestToken.of("alice"))
        try await withTokenServer { server in
            try withProxy(before: "http://127.0.0.1:\(server.port)/") { port in
                let client = try HTTPClient(port: port)
                let target = "/v1/rooms/lobby/messages"
                let body = Array(HTTPClient.draft("x").utf8)
                func send(_ fields: [HTTPField]) throws -> Int {
                    try client.request(.post, target, fields: fields, body: body).status.code
                }
                #expect(try send([]) == 401)
                #expect(try send([token, Self.fault503]) == 503)
                #expect(try send([token, Self.fault503]) == 201)
                let bearer = try TestToken.of("alice")
                let live = try WebSocketClient(
                    port: port, "/v1/rooms/lobby/live?since=0&fault=double-frame",
                    subprotocols: ["backscroll.v1", "bearer.\(bearer)"], offersDeflate: true)
                #expect(live.deflate != nil && live.subprotocol == "backscroll.v1")
                #expect(try live.frames(4).map { $0.message?.rev } == [nil, 1, 1, nil])
            }
        }
    }

    @Test(arguments: [false, true])
    func `reports the client's address to the server`(isBehindProxy: Bool) throws {
        try withServer {
            $0.faults = true
            $0.limits.addressSends = RateLimit("1/h:1")
            $0.trustedProxies = ["127.0.0.1"].compactMap { IPRange($0) }
            $0.proxyProtocol = !isBehindProxy
        } _: { server in
            func status(of address: String) throws -> Int {
                let client = try HTTPClient(port: server.port)
                var fields: [HTTPField] = []
                if isBehindProxy {
                    fields = [HTTPField("X-Forwarded-For", address)]
                } else {
                    try client.write("PROXY TCP4 \(address) 127.0.0.1 1024 80\r\n")
                }
                return try client.request(
                    .post, "/v1/rooms/lobby/messages?user=alice", fields: fields,
                    body: Array(HTTPClient.draft("x").utf8)
                ).status.code
            }
            let statuses = try ["192.0.2.1", "192.0.2.1", "192.0.2.2"].map(status)
            #expect(statuses == [201, 429, 201])
        }
    }

    @Test func `is the server's own origin to its pages, and lets the server refuse others`() throws {
        try withServer { server in
            try withProxy(before: "http://localhost:\(server.port)") { port in
                func status(host: String, origin: String) throws -> Int {
                    let client = try HTTPClient(port: port)
                    try client.write("GET /v1/rooms/lobby HTTP/1.1\r\nHost: \(host)\r\nOrigin: \(origin)\r\n\r\n")
                    return try client.response().status.code
                }
                let (own, evil) = ("localhost:\(port)", "evil.example:\(port)")
                let statuses = try [(own, "http://\(own)"), (own, "https://evil.example"), (evil, "http://\(evil)")]
                    .map(status)
                #expect(statuses == [200, 403, 421])
            }
        }
    }

    @Test func `has the server's certificate, or connects with TLS`() throws {
        let certificate = try TestCertificate()
        try withServer {
            $0.faults = true
            $0.tls = TLSConfiguration(certificate: certificate.certificatePath, key: certificate.keyPath)
        } _: { server in
            let client = try HTTPClient(port: server.port, tls: TLSOptions())
            try client.send("x")
            #expect(try client.get("/v1/rooms/lobby?fault=status").status == .serviceUnavailable)
            server.server.reload()
            try withProxy(before: "https://localhost:\(server.port)", tls: .file(certificate.certificatePath)) { port in
                // The server injects faults, too, but never sees those that this proxy injects.
                let live = try WebSocketClient(port: port, "/v1/rooms/lobby/live?since=0&fault=double-frame")
                #expect(try live.frames(4).map { $0.message?.rev } == [nil, 1, 1, nil])
            }
            try withProxy(before: "https://localhost:\(server.port)") { port in
                let problem = try HTTPClient(port: port).get("/v1/rooms/lobby").problem
                #expect(problem.code == "unavailable" && problem.detail.contains("certificate"))
            }
        }
    }

    @Test func `answers 503 while the server cannot be reached, and goes on afterwards`() throws {
        try withServer { server in
            try withProxy(before: "http://127.0.0.1:\(server.port)") { port in
                let client = try HTTPClient(port: port)
                #expect(try client.get("/healthz").status == .ok)
                let address = server.port
                server.stop()
                let refused = try client.get("/healthz")
                #expect(try refused.status == .serviceUnavailable && refused.problem.code == "unavailable")
                #expect(refused["Retry-After"] == "1")
                try server.start { $0.port = address }
                #expect(try client.get("/healthz").status == .ok)
            }
        }
    }

    @Test func `leaves what is no request to the server, and frames what it changes`() throws {
        try withServer {
            $0.faults = true
        } _: { server in
            for (bytes, status) in [
                ("GET / HTTP/1.1\r\n\r\n", 400), ("GET /v1/rooms/lobby HTTP/1.0\r\nHost: h\r\n\r\n", 200),
                ("HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 200),
                ("CONNECT h:80 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 404),
            ] {
                let client = try HTTPClient(port: server.port)
                try client.write(bytes)
                #expect(try client.response(isHead: bytes.hasPrefix("HEAD")).status.code == status, "\(bytes)")
                #expect(try client.endsSilently())
            }
            let client = try HTTPClient(port: server.port)
            let head = "POST /v1/rooms/lobby/messages?user=a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
            try client.write(head + "Expect: 100-continue\r\n\r\n")
            let interim = String(decoding: ResponseWriter.continueResponse, as: UTF8.self)
            #expect(try client.socket.receive(asLongAs: interim) == interim)
            try client.write("c\r\n{\"text\":\"x\"}\r\n0\r\n\r\n")
            #expect(try client.response().status == .created)
        }
    }

    @Test(arguments: ["localhost:80", "ftp://h:1", "http://h/v1", "http://h?x", "", "http://"])
    func `takes URLs of a host only`(url: String) throws {
        #expect(try Upstream(url) == nil)
    }
}
