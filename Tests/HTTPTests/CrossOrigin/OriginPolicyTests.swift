import HTTPTypes
import Testing

@testable import HTTP

@Suite("Origins, RFC 6454")
struct OriginTests {
    @Test(arguments: [
        ("https://A.example", "https://a.example"), ("https://a:443", "https://a"), ("http://a:80", "http://a"),
        ("http://a:443", "http://a:443"), ("HTTP://a:8080", "http://a:8080"), ("null", "null"),
        ("capacitor://localhost", "capacitor://localhost"), ("http://[::1]:80", "http://[::1]"),
        ("http://a:", "http://a"),
    ])
    func `An origin is compared in lower case and without its default port`(text: String, expected: String) {
        #expect(Origin(text)?.text == expected)
    }

    @Test(arguments: [
        "", "a", "//a", "http:", "http://", "http:/a", "https://a/", "https://a/x", "https://u@a", "https://a b",
        "https://a, https://b", "*", "NULL", "https://a?x", "://a", "h ttp://a",
    ])
    func `Other text is not an origin`(text: String) {
        #expect(Origin(text) == nil)
    }

    @Test(arguments: [
        ("http://a", "a", true), ("https://a", "a", true), ("https://a", "a:443", true), ("http://a", "a:80", true),
        ("http://a", "a:443", false), ("https://a", "a:80", false), ("http://a:8080", "a:8080", true),
        ("http://A:8080", "a:8080", true), ("http://a:8080", "A:8080", true), ("http://a:8080", "a", false),
        ("http://a", "b", false), ("http://a.b", "b", false), ("http://[::1]:8080", "[::1]:8080", true),
        ("http://[::1]", "[::1]", true), ("null", "a", false), ("x://a", "a", false), ("x://a:1", "a:1", true),
        ("http://a", "a:", true), ("http://127.0.0.1:8080", "localhost:8080", false),
    ])
    func `The server's own origin is recognized by host and port, not by scheme`(
        origin: String, host: String, expected: Bool
    ) throws {
        #expect(try #require(Origin(origin)).isSame(asHost: host) == expected)
    }
}

@Suite("Cross-origin requests, WHATWG Fetch, section 3.2")
struct OriginPolicyTests {
    private func policy(_ origins: String...) -> OriginPolicy {
        OriginPolicy(
            allowed: .only(Set(origins.compactMap { Origin($0) })), exposedHeaders: [.location, .retryAfter])
    }

    private func text(_ fields: [HTTPField]) -> [String] { fields.map { "\($0.name.rawName): \($0.value)" } }

    @Test func `A request without an origin, or of the server's own page, needs no permission`() {
        #expect(policy().decide(origin: nil, host: "a") == .withoutOrigin)
        #expect(policy().decide(origin: "http://a:81", host: "a:81") == .sameOrigin)
        #expect(policy().responseFields(for: .withoutOrigin).isEmpty)
        #expect(policy().responseFields(for: .sameOrigin).isEmpty)
        #expect(policy().preflightFields(for: .sameOrigin).isEmpty)
    }

    @Test func `A listed origin is allowed, another one is refused`() throws {
        let policy = policy("https://app.example", "http://localhost:3000")
        let app = try #require(Origin("https://app.example"))
        #expect(policy.decide(origin: "https://app.example", host: "api.example") == .allowed(app))
        #expect(policy.decide(origin: "https://app.example:443", host: nil) == .allowed(app))
        for other in [
            "http://app.example", "https://app.example.evil", "https://xapp.example", "null", "", "x",
            "https://app.example/",
        ] {
            #expect(policy.decide(origin: other, host: "api.example") == .refused)
        }
        // A shared cache must not give an answer without permission to a page that has it.
        for decision in [.refused, .withoutOrigin, .sameOrigin] as [OriginPolicy.Decision] {
            #expect(text(policy.responseFields(for: decision)) == ["Vary: Origin"])
            #expect(text(policy.preflightFields(for: decision)) == ["Vary: Origin"])
        }
    }

    @Test func `Every origin can be allowed, including null, but not a malformed one`() throws {
        let policy = OriginPolicy(allowed: .any)
        let decision = policy.decide(origin: "null", host: "a")
        #expect(decision == .allowed(try #require(Origin("null"))))
        #expect(policy.decide(origin: "what", host: "a") == .refused)
        #expect(text(policy.responseFields(for: decision)) == ["Access-Control-Allow-Origin: *", "Vary: Origin"])
        #expect(text(policy.responseFields(for: .withoutOrigin)) == ["Vary: Origin"])
    }

    @Test func `The answer to a preflight request lists what may be sent, and for how long`() {
        let policy = policy("https://a.example")
        #expect(
            text(policy.preflightFields(for: policy.decide(origin: "https://A.example", host: "h"))) == [
                "Access-Control-Allow-Origin: https://a.example", "Vary: Origin",
                "Access-Control-Allow-Methods: GET, HEAD, POST, PUT, PATCH, DELETE",
                "Access-Control-Allow-Headers: Authorization, Content-Type", "Access-Control-Max-Age: 86400",
            ])
    }

    @Test func `Answers name the permitted origin and the readable fields`() {
        let policy = policy("https://a.example")
        #expect(
            text(policy.responseFields(for: policy.decide(origin: "https://a.example", host: "h"))) == [
                "Access-Control-Allow-Origin: https://a.example", "Vary: Origin",
                "Access-Control-Expose-Headers: Location, Retry-After",
            ])
    }

    @Test func `A request has one origin, and preflight requests are recognized`() throws {
        let policy = policy("https://a.example")
        let one = try #require(onlyRequest(in: head("Origin: https://a.example"))).head
        let two = try #require(onlyRequest(in: head("Origin: https://a.example", "Origin: https://a.example"))).head
        let own = try #require(onlyRequest(in: head("Origin: https://h"))).head
        #expect(policy.decide(one) != .refused)
        #expect(policy.decide(two) == .refused)
        #expect(policy.decide(own) == .sameOrigin)
        #expect(!OriginPolicy.isPreflight(one))
        let lines = "Host: h\r\nOrigin: https://a.example\r\nAccess-Control-Request-Method: PUT\r\n\r\n"
        #expect(OriginPolicy.isPreflight(try #require(onlyRequest(in: "OPTIONS / HTTP/1.1\r\n\(lines)")).head))
        #expect(!OriginPolicy.isPreflight(try #require(onlyRequest(in: "GET / HTTP/1.1\r\n\(lines)")).head))
    }
}
