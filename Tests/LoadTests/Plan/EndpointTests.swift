import Testing

@testable import Load

@Suite struct EndpointTests {
    static func read(_ text: String, _ scheme: String = "http") throws -> Endpoint {
        try Endpoint(text, schemes: [scheme], source: "--post")
    }

    @Test func `an address is split into its parts`() throws {
        let endpoint = try Self.read("http://127.0.0.1:8080/v1/rooms/{room}?x=1")
        #expect(endpoint.host == "127.0.0.1")
        #expect(endpoint.port == 8080)
        #expect(endpoint.authority == "127.0.0.1:8080")
        #expect(endpoint.target == "/v1/rooms/{room}?x=1")
    }

    @Test func `port and path are optional`() throws {
        let endpoint = try Self.read("WS://example", "ws")
        #expect(endpoint.port == 80)
        #expect(endpoint.target == "/")
        #expect(try Self.read("http://example?a").target == "/?a")
    }

    @Test func `an IPv6 address needs brackets`() throws {
        let endpoint = try Self.read("http://[::1]:81/x")
        #expect(endpoint.host == "::1" && endpoint.port == 81 && endpoint.authority == "[::1]:81")
        #expect(try Self.read("http://[::1]").port == 80)
    }

    @Test func `an address without a scheme is a host and a port`() throws {
        let endpoint = try Self.read("tcp://127.0.0.1:4222", "tcp")
        #expect(endpoint.host == "127.0.0.1" && endpoint.port == 4222 && endpoint.isPlain && !endpoint.isSecure)
        #expect(try !Self.read("http://h").isPlain)
        for text in ["tcp://h", "tcp://h:", "tcp://h:1/x", "tcp://h:1?x", "tcp://:1"] {
            #expect(throws: LoadError.self, "\(text)") { try Self.read(text, "tcp") }
        }
    }

    @Test(arguments: [
        "127.0.0.1:8080", "http:/x", "://x", "ftp://x", "http://", "http://:80", "http://x:0", "http://x:65536",
        "http://x:a", "http://me@x", "http://x/a b", "http://x/a#b", "http://x/a\nb",
    ])
    func `an invalid address is refused`(text: String) {
        #expect(throws: LoadError.self) { try Self.read(text) }
    }

    @Test func `a scheme with TLS has its own port`() throws {
        let endpoint = try Endpoint("wss://example/x", schemes: ["ws", "wss"], source: "--ws")
        #expect(endpoint.isSecure && endpoint.port == 443)
        #expect(try !Self.read("http://example").isSecure)
        #expect(try !Self.read("ws://example", "ws").isSecure)
        #expect(throws: LoadError.self) { try Self.read("https://x/") }
    }
}
