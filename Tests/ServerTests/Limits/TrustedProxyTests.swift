import HTTP
import HTTPTypes
import TestSupport
import Testing
import Transport

@testable import Server

@Suite("Trusted proxies")
struct TrustedProxyTests {
    private static let ranges = ["10.0.0.0/8", "fd00::/8", "127.0.0.1"].map { IPRange($0)! }

    /// Returns the client's address for a request with these headers.
    private static func client(_ fields: [(String, String)], from peer: String = "10.0.0.1") throws -> String {
        var parser = RequestParser()
        let lines = fields.map { "\($0): \($1)\r\n" }.joined()
        parser.append("GET / HTTP/1.1\r\nHost: x\r\n\(lines)\r\n".utf8.span)
        guard case .request(let request) = try parser.next() else { throw Unexpected("no request") }
        let proxies = try #require(TrustedProxies(ranges))
        return try proxies.client(in: request.head.headerFields, from: #require(IPAddress(peer))).description
    }

    private static let cases: [([(String, String)], String)] = [
        ([], "10.0.0.1"),
        ([("X-Forwarded-For", "192.0.2.1")], "192.0.2.1"),
        ([("x-forwarded-for", "192.0.2.1:1234")], "192.0.2.1"),
        ([("X-Forwarded-For", "1.1.1.1, 192.0.2.1")], "192.0.2.1"),
        ([("X-Forwarded-For", "1.1.1.1, 192.0.2.1, 10.9.9.9")], "192.0.2.1"),
        ([("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-For", "192.0.2.1")], "192.0.2.1"),
        ([("X-Forwarded-For", "10.7.7.7, 10.9.9.9")], "10.7.7.7"),
        ([("X-Forwarded-For", "192.0.2.1, unknown")], "10.0.0.1"),
        ([("X-Forwarded-For", "192.0.2.1, unknown, 10.9.9.9")], "10.9.9.9"),
        ([("X-Forwarded-For", "192.0.2.1, nonsense")], "10.0.0.1"),
        ([("X-Forwarded-For", "[2001:db8::7]:80")], "2001:db8::7"),
        ([("X-Forwarded-For", "2001:db8::7, fd00::1")], "2001:db8::7"),
        ([("X-Forwarded-For", "::ffff:192.0.2.1")], "192.0.2.1"),
        ([("Forwarded", "for=192.0.2.1;proto=https")], "192.0.2.1"),
        ([("Forwarded", "for=1.1.1.1, for=\"[2001:db8::7]:80\", for=10.9.9.9")], "2001:db8::7"),
        ([("Forwarded", "for=192.0.2.1, for=_hidden")], "10.0.0.1"),
        ([("Forwarded", "for=192.0.2.1, proto=http")], "10.0.0.1"),
        ([("Forwarded", "for=\"1.1.1.1"), ("Forwarded", "for=192.0.2.1")], "192.0.2.1"),
        // If both are present, they must agree.
        ([("Forwarded", "for=192.0.2.1"), ("X-Forwarded-For", "1.1.1.1, 192.0.2.1")], "192.0.2.1"),
        ([("Forwarded", "for=192.0.2.1"), ("X-Forwarded-For", "192.0.2.2")], "10.0.0.1"),
        ([("Forwarded", ""), ("X-Forwarded-For", "192.0.2.2")], "10.0.0.1"),
        // No other headers count.
        ([("X-Real-IP", "192.0.2.1"), ("Client-IP", "192.0.2.1"), ("Via", "192.0.2.1")], "10.0.0.1"),
    ]

    @Test(arguments: cases.indices)
    func `reveal the client: the last hop that is not trusted`(index: Int) throws {
        let (fields, expected) = Self.cases[index]
        let client = try Self.client(fields)
        #expect(client == expected, "\(fields)")
        for stranger in ["192.0.2.200", "2001:db8::200"] {
            let own = try Self.client(fields, from: stranger)
            #expect(own == stranger, "nobody else is believed")
        }
    }

    @Test func `do not exist without ranges`() {
        #expect(TrustedProxies([]) == nil)
    }

    private func forwarded(_ address: String) -> [HTTPField] { [HTTPField("X-Forwarded-For", address)] }

    private func send(_ client: HTTPClient, for address: String) throws -> Int {
        try client.request(
            .post, "/v1/rooms/lobby/messages?user=alice", fields: forwarded(address), body: Array(#"{"text":"x"}"#.utf8)
        ).status.code
    }

    @Test(arguments: ["/v1/rooms/lobby/live", "/v1/live"])
    func `let limits count their clients by address`(live: String) throws {
        try withServer {
            $0.trustedProxies = Self.ranges
            $0.limits.addressSends = RateLimit("1/h:1")
            $0.limits.addressConnections = RateLimit("1/h:2")
        } _: { server in
            // The proxy itself may connect any number of times.
            for number in 1...4 {
                let client = try HTTPClient(port: server.port)
                let statuses = try ["192.0.2.\(number)", "1.1.1.1, 192.0.2.\(number)"].map { try send(client, for: $0) }
                #expect(statuses == [201, 429])
            }
            func subscribe(for address: String) throws {
                _ = try WebSocketClient(port: server.port, live, fields: forwarded(address))
            }
            for _ in 1...2 { try subscribe(for: "192.0.2.1") }
            let refused = #expect(throws: Unexpected.self) { try subscribe(for: "192.0.2.1") }
            #expect(refused?.status == 429)
            try subscribe(for: "192.0.2.2")
        }
    }

    @Test func `are the only peers whose forwarding headers count`() throws {
        try withServer {
            $0.trustedProxies = [IPRange("10.0.0.0/8")!]
            $0.limits.addressSends = RateLimit("1/h:1")
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let statuses = try ["192.0.2.1", "192.0.2.2"].map { try send(client, for: $0) }
            #expect(statuses == [201, 429])
        }
    }

    @Test func `with the PROXY protocol let limits count the client that the header names`() throws {
        try withServer {
            $0.trustedProxies = Self.ranges
            $0.proxyProtocol = true
            $0.limits.addressSends = RateLimit("1/h:1")
        } _: { server in
            func statuses(_ address: String, _ forwarded: String) throws -> [Int] {
                let client = try HTTPClient(port: server.port)
                try client.write("PROXY TCP4 \(address) 127.0.0.1 1 2\r\n")
                return try [send(client, for: forwarded), send(client, for: forwarded)]
            }
            let first = try statuses("192.0.2.1", "192.0.2.9")
            let second = try statuses("192.0.2.2", "192.0.2.9")
            #expect(first == [201, 429] && second == [201, 429], "what the client says itself does not count")
            // A balancer before a proxy: the proxy's headers count.
            let proxied = try statuses("10.0.0.5", "192.0.2.3")
            #expect(proxied == [201, 429])
        }
    }

    @Test func `are required for the PROXY protocol`() {
        let error = #expect(throws: ServerError.self) {
            try withServer {
                $0.proxyProtocol = true
            } _: { _ in
            }
        }
        #expect(error?.description.contains("--trust-proxy") == true)
    }
}
