import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Transport

@Suite("A separate address for metrics")
struct MetricsAddressTests {
    private func withMetricsServer(
        _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (LiveServer, _ metricsPort: Int) throws -> Void
    ) throws {
        try withServer {
            $0.metricsAddress = ListenAddress(host: "127.0.0.1", port: 0)
            configure(&$0)
        } _: { server in
            try body(server, #require(server.server.metricsPort))
        }
    }

    @Test func `serves them, and the main address does not`() throws {
        try withMetricsServer { server, metricsPort in
            let operations = try HTTPClient(port: metricsPort)
            let response = try operations.get("/metrics")
            #expect(response.status == .ok)
            #expect(response.text.contains("backscroll_connections 0\n"), "its own connections are not counted")
            let client = try HTTPClient(port: server.port)
            let refused = try client.get("/metrics")
            #expect(refused.status == .notFound)
            #expect(try refused.problem.code == "not_found")
            let document = try client.get("/openapi.json").text
            #expect(!document.contains("/metrics") && document.contains("/readyz"))
        }
    }

    @Test(arguments: ["/healthz", "/readyz"])
    func `also serves health checks, like the main address, and nothing else`(target: String) throws {
        try withMetricsServer { server, metricsPort in
            let operations = try HTTPClient(port: metricsPort)
            for client in [operations, try HTTPClient(port: server.port)] {
                let status = try client.get(target).status
                #expect(status == .ok)
            }
            for other in [
                "/", "/v1/rooms?user=alice", "/v1/rooms/lobby/messages", "/openapi.json", "/docs", "/v1/live",
            ] {
                let status = try operations.get(other).status
                #expect(status == .notFound, "\(other)")
            }
            let sent = try operations.post(#"{"text":"x"}"#)
            #expect(sent.status == .notFound)
        }
    }

    @Test func `answers to any name, without TLS`() throws {
        let certificate = try TestCertificate()
        try withMetricsServer {
            $0.tls = TLSConfiguration(certificate: certificate.certificatePath, key: certificate.keyPath)
            $0.allowedHosts = []
        } _: { _, metricsPort in
            let client = try HTTPClient(port: metricsPort)
            try client.write("GET /metrics HTTP/1.1\r\nHost: backscroll.internal:9090\r\n\r\n")
            let status = try client.response().status
            #expect(status == .ok)
        }
    }

    @Test func `accepts connections even if the main address has none left`() throws {
        try withMetricsServer {
            $0.transport.connections = 0
        } _: { server, metricsPort in
            let status = try HTTPClient(port: metricsPort).get("/metrics").status
            #expect(status == .ok)
            let refused = try HTTPClient(port: server.port).get("/").status
            #expect(refused == .serviceUnavailable)
        }
    }

    @Test func `must be free`() throws {
        try withServer { first in
            let error = #expect(throws: TransportError.self) {
                try withServer {
                    $0.metricsAddress = ListenAddress(host: "127.0.0.1", port: first.port)
                } _: { _ in
                }
            }
            #expect(error?.isAddressInUse == true)
        }
    }

    @Test(arguments: [
        ("localhost:9090", "localhost", 9090), ("0.0.0.0:0", "0.0.0.0", 0), ("[::1]:65535", "::1", 65_535),
        ("[::]:1", "::", 1),
    ])
    func `is a host and a port`(text: String, host: String, port: Int) {
        #expect(ListenAddress(text) == ListenAddress(host: host, port: port))
        #expect(ListenAddress(text)?.description == text)
    }

    @Test(arguments: [
        "", "9090", ":9090", "localhost", "localhost:", "localhost:65536", "localhost:x", "::1:9090", "[::1]",
        "[]:1",
        "[a]:1", "localhost:+1", "localhost:-1", "localhost: 1",
    ])
    func `is refused in any other form`(text: String) {
        #expect(ListenAddress(text) == nil)
    }
}
