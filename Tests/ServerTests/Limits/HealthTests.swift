import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Transport

@Suite("Health checks")
struct HealthTests {
    private let targets = ["/healthz", "/readyz"]

    @Test func `are answered to addresses with too many connections, whose other requests are refused`() throws {
        try withServer {
            $0.limits.addressConnections = RateLimit("1/h:1")
        } _: { server in
            let first = try HTTPClient(port: server.port)
            #expect(try first.get("/").status == .ok)
            for target in targets {
                let client = try HTTPClient(port: server.port)
                let response = try client.get(target)
                #expect(response.status == .ok)
                #expect(response["Connection"] == "close")
                #expect(try client.responsesToEnd().isEmpty)
            }
            for request in ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST /healthz HTTP/1.1\r\nHost: x\r\n\r\n"] {
                let client = try HTTPClient(port: server.port)
                try client.write(request)
                let response = try client.response()
                #expect(response.status == .tooManyRequests)
                #expect(response["RateLimit-Policy"]?.hasPrefix("\"connections-per-address\"") == true)
                #expect(try client.responsesToEnd().isEmpty)
            }
        }
    }

    @Test func `are answered even at the maximum number of connections`() throws {
        try withServer {
            $0.transport.connections = 1
        } _: { server in
            let first = try HTTPClient(port: server.port)
            #expect(try first.get("/").status == .ok)
            for target in targets {
                let response = try HTTPClient(port: server.port).get(target)
                #expect(response.status == .ok)
                #expect(response["Connection"] == "close")
            }
            let refused = try HTTPClient(port: server.port).get("/")
            #expect(refused.status == .serviceUnavailable)
            #expect(try refused.problem.code == "too_many_connections")
            #expect(refused["Retry-After"] == "1")
            #expect(try first.get("/").status == .ok)
        }
    }

    @Test func `do not delay refusals: a refused client that is silent or has a body to send is told why`() throws {
        try withServer {
            $0.transport.connections = 0
        } _: { server in
            let begun = "POST /v1/rooms/lobby/messages HTTP/1.1\r\nHost: x\r\n"
            for start in [
                "", "G", "GET / HTTP/1.1\r\n", begun, begun + "Content-Length: 100\r\n\r\n",
                begun + "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n", "nonsense\r\n\r\n",
            ] {
                let client = try HTTPClient(port: server.port)
                try client.write(start)
                let response = try client.response()
                let expected = start == "nonsense\r\n\r\n" ? 400 : 503
                #expect(response.status.code == expected, "\(start)")
                #expect(try client.responsesToEnd().isEmpty)
            }
        }
    }
}
