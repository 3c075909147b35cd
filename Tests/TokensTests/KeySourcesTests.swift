import Chat
import TestSupport
import Testing
import Wire

@testable import Tokens

@Suite("The keys of tokens")
struct KeySourcesTests {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func load(_ configure: (inout KeySources) throws -> Void) async throws -> KeyRing {
        var sources = KeySources()
        try configure(&sources)
        return try await sources.load()
    }

    private func refuses(_ words: String..., configure: (inout KeySources) throws -> Void) async throws {
        let error = try await #require(throws: KeyError.self) { try await load(configure) }
        for word in words {
            #expect(error.description.contains(word))
        }
    }

    private func accepts(_ token: String, _ keys: KeyRing) -> Bool {
        let verifier = TokenVerifier(rules: TokenRules(keys: keys))
        return (try? verifier.identity(of: Array(token.utf8), at: now))?.user?.string == "alice"
    }

    private func token(_ issuer: TokenIssuer) async throws -> String {
        try await issuer.token(.init(subject: "alice", expiry: 1_900_000_000))
    }

    @Test("may be a secret of 32 bytes or more, from a file without its line end", arguments: ["", "\n", "\r\n"])
    func secret(lineEnd: String) async throws {
        let files = try TestKeys()
        let path = try files.write(TestKeys.secret + lineEnd, to: "secret")
        let keys = try await load { $0.secretFile = path }
        #expect(accepts(try TestKeys.token(payload: #"{"sub":"alice","exp":1900000000}"#), keys))
        #expect(accepts(try await token(TokenIssuer(secretFile: path)), keys))
        let short = try files.write(TestKeys.secret.dropLast() + lineEnd, to: "short")
        try await refuses(short, "32 bytes", "31") { $0.secretFile = short }
        try await refuses(KeySources.secretVariable, "32 bytes") { $0.secret = "" }
    }

    @Test("may be public keys in PEM, which verify what OpenSSL or we have signed", arguments: TestKeys.Kind.allCases)
    func pem(kind: TestKeys.Kind) async throws {
        let files = try TestKeys()
        let (pair, other) = (try files.pair(kind), try files.pair(kind, name: "other"))
        let keys = try await load { $0.publicKeys = [pair.publicKey] }
        #expect(accepts(try await token(TokenIssuer(privateKeyFile: pair.privateKey)), keys))
        #expect(!accepts(try await token(TokenIssuer(privateKeyFile: other.privateKey)), keys))
        if kind == .rsa {
            let payload = #"{"sub":"alice","exp":1900000000}"#
            #expect(accepts(try TestKeys.token(payload: payload, rsaKey: pair.privateKey), keys))
        }
    }

    @Test("may be a set, in which they are found by kid, and what is of no use is passed over")
    func set() async throws {
        let files = try TestKeys()
        var (jwks, issuers): ([String], [TokenIssuer]) = ([], [])
        for kind in TestKeys.Kind.allCases {
            let pair = try files.pair(kind)
            jwks.append(try files.jwk(kind, publicKey: pair.publicKey, #""kid":"\#(kind)","use":"sig""#))
            issuers.append(try TokenIssuer(privateKeyFile: pair.privateKey, keyID: kind.rawValue))
        }
        let unused = try files.pair(.rsa, name: "unused")
        jwks.append(try files.jwk(.rsa, publicKey: unused.publicKey, #""kid":"enc","use":"enc""#))
        jwks.append(try files.jwk(.rsa, publicKey: unused.publicKey, #""kid":"oaep","alg":"RSA-OAEP""#))
        jwks.append(try files.jwk(.rsa, publicKey: unused.publicKey, #""kid":"rs512","alg":"RS512""#))
        jwks += [#"{"kty":"oct","k":"AAAA","kid":"oct"}"#, #"{"kty":"new"}"#, #"{"kty":"RSA"}"#]
        jwks.append(#"{"kty":"EC","crv":"P-256","x":"AA","y":"AA","kid":"broken"}"#)
        let path = try files.write(#"{"keys":[\#(jwks.joined(separator: ","))]}"#, to: "jwks.json")
        let keys = try await load { $0.keySet = path }
        #expect(keys.count == 3)
        for issuer in issuers { #expect(accepts(try await token(issuer), keys)) }
        // The right key by a wrong name is not looked for.
        let renamed = try TokenIssuer(
            privateKeyFile: unused.privateKey.replacing("unused", with: "key"), keyID: "ec")
        #expect(!accepts(try await token(renamed), keys))
    }

    @Test("without a kid in a set may be called anything")
    func unnamed() async throws {
        let files = try TestKeys()
        let pair = try files.pair(.ec)
        let path = try files.write(#"{"keys":[\#(try files.jwk(.ec, publicKey: pair.publicKey))]}"#, to: "jwks.json")
        let keys = try await load { $0.keySet = path }
        for name in [nil, "anything"] {
            #expect(accepts(try await token(TokenIssuer(privateKeyFile: pair.privateKey, keyID: name)), keys))
        }
    }

    @Test("that cannot be used are refused, by the name of their file and without what is in it")
    func refused() async throws {
        let files = try TestKeys()
        let pair = try files.pair(.rsa)
        let text = try files.write("not a key, but secret words", to: "text")
        try await refuses("/nowhere/key", "No such file") { $0.publicKeys = ["/nowhere/key"] }
        try await refuses("cannot be read") { $0.publicKeys = [""] }
        try await refuses(pair.privateKey, "private key", "-pubout") { $0.publicKeys = [pair.privateKey] }
        try await refuses(pair.publicKey, "--jwt-key") { $0.secretFile = pair.publicKey }
        try await refuses(text, "RS256") { $0.publicKeys = [text] }
        try await refuses(text, "JSON Web Key Set") { $0.keySet = text }
        let empty = try files.write(#"{"keys":[]}"#, to: "empty.json")
        try await refuses(empty, "no key for RS256") { $0.keySet = empty }
        let large = try files.write(String(repeating: "x", count: KeyFile.maximumBytes + 1), to: "large")
        try await refuses(large, "\(KeyFile.maximumBytes)") { $0.secretFile = large }
        let error = await #expect(throws: KeyError.self) { try await load { $0.publicKeys = [text] } }
        #expect(error?.description.contains("secret words") == false)
    }

    @Test("are so many at most")
    func bound() async throws {
        let files = try TestKeys()
        let path = try files.pair(.ec).publicKey
        let most = try await load { $0.publicKeys = Array(repeating: path, count: KeyRing.maximumKeys) }
        #expect(most.count == KeyRing.maximumKeys)
        try await refuses("\(KeyRing.maximumKeys)") {
            $0.publicKeys = Array(repeating: path, count: KeyRing.maximumKeys)
            $0.secret = TestKeys.secret
        }
    }
}
