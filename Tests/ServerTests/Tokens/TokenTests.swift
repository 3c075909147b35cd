import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Tokens

@Suite("A server with a key")
struct TokenTests {
    private let messages = "/v1/rooms/lobby/messages"
    private let body = Array(#"{"text":"x"}"#.utf8)

    private func sender(_ client: HTTPClient, _ target: String, _ fields: HTTPField...) throws -> String {
        let response = try client.request(.post, target, fields: fields, body: body)
        guard response.status == .created else { throw Unexpected(response) }
        return try decode(response.body, as: ReceivedMessage.self).sender
    }

    @Test func `takes the caller from the token, in the header with Bearer in any case, or in the URL`() async throws {
        let (alice, bob) = (try TestToken.of("alice"), try TestToken.of("bob"))
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            #expect(try sender(client, messages, .bearer(alice)) == "alice")
            #expect(try sender(client, messages, .bearer(bob)) == "bob")
            #expect(try sender(client, messages, HTTPField("Authorization", "bearer  \(alice)")) == "alice")
            #expect(try sender(client, "\(messages)?access_token=\(bob)") == "bob")
            // The same token twice counts once.
            #expect(try sender(client, "\(messages)?access_token=\(bob)", .bearer(bob)) == "bob")
            // Another scheme belongs to a proxy.
            let proxy = HTTPField("Authorization", "Basic YTpi")
            #expect(try sender(client, "\(messages)?access_token=\(bob)", proxy) == "bob")
        }
    }

    @Test func `lets the token's user change messages, in the token's rooms only`() async throws {
        let (alice, bob) = (try TestToken.of("alice"), try TestToken.of("bob"))
        let elsewhere = try TestToken.of("alice", #""rooms":["kitchen"]"#)
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            #expect(try sender(client, messages, .bearer(alice)) == "alice")
            let changes: [(HTTPRequest.Method, String, String)] = [
                (.patch, "1", #"{"text":"y"}"#), (.put, "1/reactions/x", ""), (.delete, "1/reactions/x", ""),
                (.delete, "1", ""),
            ]
            for (token, code) in [(nil, "token_missing"), (elsewhere, "room_not_allowed")] as [(String?, String)] {
                for (method, path, body) in changes {
                    let response = try client.request(
                        method, "\(messages)/\(path)", fields: token.map { [.bearer($0)] } ?? [], body: Array(body.utf8)
                    )
                    #expect(try response.problem.code == code)
                }
            }
            let refused = try client.request(.delete, "\(messages)/1", fields: [.bearer(bob)])
            #expect(try refused.problem.code == "not_the_sender")
            for (method, path, body) in changes {
                let response = try client.request(
                    method, "\(messages)/\(path)", fields: [.bearer(alice)], body: Array(body.utf8))
                #expect(response.status == .ok)
            }
        }
    }

    @Test(arguments: TestKeys.Kind.allCases, [false, true])
    func `accepts keys of each kind`(kind: TestKeys.Kind, asSet: Bool) async throws {
        let files = try TestKeys()
        let pair = try files.pair(kind)
        var sources = KeySources()
        if asSet {
            let key = try files.jwk(kind, publicKey: pair.publicKey, #""kid":"k1""#)
            sources.keySet = try files.write(#"{"keys":[\#(key)]}"#, to: "jwks.json")
        } else {
            sources.publicKeys = [pair.publicKey]
        }
        let issuer = try TokenIssuer(privateKeyFile: pair.privateKey, keyID: "k1")
        let token = try issuer.token(.init(subject: "alice", expiry: 4_000_000_000))
        let forged = token.dropLast(4) + "AAAA"
        try await withTokenServer(sources) { server in
            let client = try HTTPClient(port: server.port)
            #expect(try sender(client, messages, .bearer(token)) == "alice")
            #expect(try client.get(messages, fields: [.bearer(String(forged))]).status == .unauthorized)
            #expect(try client.get(messages, fields: [.bearer(token)]).status == .ok)
        }
    }

    @Test func `refuses callers without a token, also to read and subscribe, and names the scheme`() async throws {
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            let targets = [
                messages, "\(messages)/1", "\(messages)/by-client-id/a", "/v1/rooms/lobby", "/v1/rooms/lobby/changes",
                "/v1/rooms/lobby/live", "\(messages)?user=alice",
            ]
            for target in targets {
                let response = try client.get(target)
                #expect(response.status == .unauthorized)
                #expect(try response.problem.code == "token_missing")
                #expect(response["WWW-Authenticate"] == #"Bearer realm="backscroll""#)
            }
            #expect(try client.post(#"{"text":"x"}"#, as: "alice").status == .unauthorized)
            for target in ["/healthz", "/readyz", "/metrics", "/"] { #expect(try client.get(target).status == .ok) }
        }
    }

    @Test(arguments: [
        ("expired", "token_expired"), ("future", "token_not_yet_valid"), ("otherSecret", "token_invalid"),
        ("none", "token_invalid"), ("noneUnsigned", "token_invalid"), ("hs512", "token_invalid"),
        ("critical", "token_invalid"), ("noSubject", "token_invalid"), ("noExpiry", "token_invalid"),
        ("garbage", "token_invalid"), ("empty", "token_invalid"), ("oversized", "token_invalid"),
        ("cut", "token_invalid"), ("encrypted", "token_invalid"),
    ])
    func `refuses tokens that are expired, not yet valid, or of another server, each with its own code`(
        kind: String, code: String
    ) async throws {
        let good = TestToken.payload("alice")
        let token =
            switch kind {
            case "expired": try TestToken.of("alice", expiringIn: -61)
            case "future": try TestToken.of("alice", #""nbf":4000000000"#)
            case "otherSecret": try TestToken.of("alice", secret: String(repeating: "x", count: 32))
            case "none": try TestKeys.token(header: #"{"alg":"none"}"#, payload: good)
            case "noneUnsigned":
                String(
                    try TestKeys.token(header: #"{"alg":"none"}"#, payload: good).split(separator: ".").dropLast()
                        .joined(separator: ".")) + "."
            case "hs512": try TestKeys.token(header: #"{"alg":"HS512"}"#, payload: good)
            case "critical": try TestKeys.token(header: #"{"alg":"HS256","crit":["exp"]}"#, payload: good)
            case "noSubject": try TestKeys.token(payload: #"{"exp":4000000000}"#)
            case "noExpiry": try TestKeys.token(payload: #"{"sub":"alice"}"#)
            case "garbage": "a.b.c"
            case "empty": ""
            case "cut": String(try TestToken.of("alice").dropLast())
            case "encrypted": "a.b.c.d.e"
            default: try TestToken.of("alice", #""x":"\#(String(repeating: "x", count: 7000))""#)
            }
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            for _ in 1...2 {
                let response = try client.get(messages, fields: [.bearer(token)])
                #expect(response.status == .unauthorized)
                let problem = try response.problem
                #expect(problem.code == code)
                #expect(problem.limit == (kind == "oversized" ? 8192 : nil))
                #expect(response["WWW-Authenticate"] == #"Bearer error="invalid_token""#)
                if token.count > 20 { #expect(!response.text.contains(token.dropFirst(10).prefix(10))) }
            }
        }
    }

    @Test func `refuses a token signed with its public key as if that were a secret`() async throws {
        let files = try TestKeys()
        let pair = try files.pair(.rsa)
        var sources = KeySources()
        sources.publicKeys = [pair.publicKey]
        let pem = try run("cat", pair.publicKey)
        let payload = TestToken.payload("mallory")
        let tokens = try [pem, String(pem.dropLast())].map { try TestKeys.token(payload: payload, secret: $0) }
        try await withTokenServer(sources) { server in
            let client = try HTTPClient(port: server.port)
            for token in tokens {
                #expect(try client.get(messages, fields: [.bearer(token)]).problem.code == "token_invalid")
            }
            let good = try TestKeys.token(payload: payload, rsaKey: pair.privateKey)
            #expect(try sender(client, messages, .bearer(good)) == "mallory")
        }
    }

    @Test func `refuses two tokens that differ, and a name other than the token's`() async throws {
        let (alice, bob) = (try TestToken.of("alice"), try TestToken.of("bob"))
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            func refuses(_ target: String, _ fields: HTTPField...) throws {
                let response = try client.get(target, fields: fields)
                #expect(response.status == .badRequest)
                #expect(try response.problem.code == "bad_request")
            }
            try refuses("\(messages)?access_token=\(bob)", .bearer(alice))
            try refuses(messages, .bearer(alice), .bearer(bob))
            try refuses("\(messages)?access_token=\(bob)&access_token=\(bob)")
            try refuses("\(messages)?user=bob", .bearer(alice))
            try refuses(messages, .bearer(alice), HTTPField("X-User", "bob"))
            let agreeing = [HTTPField.bearer(alice), HTTPField("X-User", "alice")]
            #expect(try client.get("\(messages)?user=alice", fields: agreeing).status == .ok)
        }
    }

    @Test func `limits a token to its rooms`() async throws {
        let token = try TestToken.of("alice", #""rooms":["lobby","team-*"]"#)
        let nowhere = try TestToken.of("alice", #""rooms":[]"#, #""admin":true"#)
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            for room in ["lobby", "team-1", "team-"] {
                #expect(try sender(client, "/v1/rooms/\(room)/messages", .bearer(token)) == "alice")
            }
            for (room, token) in [("kitchen", token), ("team", token), ("lobby", nowhere)] {
                for target in ["messages", "messages/1", "changes", "live"] {
                    let response = try client.get("/v1/rooms/\(room)/\(target)", fields: [.bearer(token)])
                    #expect(response.status == .forbidden)
                    #expect(try response.problem.code == "room_not_allowed")
                    #expect(response["WWW-Authenticate"] == #"Bearer error="insufficient_scope""#)
                }
            }
        }
    }

    @Test func `marks the answer to a URL with a token as private, and leaves the token out of links`() async throws {
        let token = try TestToken.of("alice")
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            for _ in 1...3 { _ = try sender(client, messages, .bearer(token)) }
            let page = try client.get("\(messages)?after=1&limit=1&access_token=\(token)")
            #expect(page["Cache-Control"] == "private")
            let links = try #require(page["Link"])
            #expect(links.contains("after=2&limit=1") && !links.contains("token"))
            #expect(try client.get(messages, fields: [.bearer(token)])["Cache-Control"] == nil)
        }
    }

    @Test func `may listen beyond loopback`() async throws {
        try await withTokenServer(configure: { $0.host = "0.0.0.0" }) { server in
            let status = try HTTPClient(port: server.port).get("/healthz").status
            #expect(status == .ok)
        }
    }
}
