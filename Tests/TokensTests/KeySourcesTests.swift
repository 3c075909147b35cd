import Chat
import TestSupport
import Testing
import Wire

@testable import Tokens

@Suite("Token keys")
struct KeySourcesTests {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func load(_ configure: (inout KeySources) throws -> Void) throws -> KeyRing {
        var sources = KeySources()
        try configure(&sources)
        return try sources.load()
    }

    private func refuses(_ words: String..., configure: (inout KeySources) throws -> Void) throws {
        let error = try #require(throws: KeyError.self) { try load(configure) }
        for word in words {
            #expect(error.description.contains(word))
        }
    }

    private func accepts(_ token: String, _ keys: KeyRing) -> Bool {
        let verifier = TokenVerifier(rules: TokenRules(keys: keys))
        return (try? verifier.identity(of: Array(token.utf8), at: now))?.user?.string == "alice"
    }

    private func token(_ issuer: TokenIssuer) throws -> String {
        try issuer.token(.init(subject: "alice", expiry: 1_900_000_000))
    }

    @Test(arguments: ["", "\n", "\r\n"])
    func `can be a secret of 32 bytes or more, from a file without its line end`(lineEnd: String) throws {
        let files = try TestKeys()
        let path = try files.write(TestKeys.secret + lineEnd, to: "secret")
        let keys = try load { $0.secretFile = path }
        #expect(accepts(try TestKeys.token(payload: #"{"sub":"alice","exp":1900000000}"#), keys))
        #expect(accepts(try token(TokenIssuer(secretFile: path)), keys))
        let short = try files.write(TestKeys.secret.dropLast() + lineEnd, to: "short")
        try refuses(short, "32 bytes", "31") { $0.secretFile = short }
        try refuses(KeySources.secretVariable, "32 bytes") { $0.secret = "" }
    }

    @Test(arguments: ["\n", "\r\n"])
    func `refuse a token signed with the line end of the secret's file, and say so`(_ lineEnd: String) throws {
        let files = try TestKeys()
        let path = try files.write(TestKeys.secret + lineEnd, to: "secret")
        let verifier = TokenVerifier(rules: TokenRules(keys: try load { $0.secretFile = path }))
        func refusal(ofTokenSignedWith secret: String) throws -> String? {
            let issuer = try TokenIssuer(secret: Array(secret.utf8), of: "test")
            let token = Array(try token(issuer).utf8)
            return #expect(throws: Problem.self) { try verifier.identity(of: token, at: now) }?.detail
        }
        #expect(try refusal(ofTokenSignedWith: TestKeys.secret + lineEnd)?.contains("line end") == true)
        #expect(try refusal(ofTokenSignedWith: TestKeys.secret + " ")?.contains("line end") == false)
    }

    @Test(arguments: TestKeys.Kind.allCases)
    func `can be public keys in PEM, which verify signatures of OpenSSL and our own`(kind: TestKeys.Kind) throws {
        let files = try TestKeys()
        let (pair, other) = (try files.pair(kind), try files.pair(kind, name: "other"))
        let keys = try load { $0.publicKeys = [pair.publicKey] }
        #expect(accepts(try token(TokenIssuer(privateKeyFile: pair.privateKey)), keys))
        #expect(!accepts(try token(TokenIssuer(privateKeyFile: other.privateKey)), keys))
        let payload = #"{"sub":"alice","exp":1900000000}"#
        #expect(accepts(try files.token(payload: payload, kind, privateKey: pair.privateKey), keys))
        #expect(!accepts(try files.token(payload: payload, kind, privateKey: other.privateKey), keys))
    }

    @Test func `can be a key set, which is searched by kid, and whose unusable keys are skipped`() throws {
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
        let keys = try load { $0.keySet = path }
        #expect(keys.count == 3)
        for issuer in issuers { #expect(accepts(try token(issuer), keys)) }
        // A matching key is not found under another kid.
        let renamed = try TokenIssuer(
            privateKeyFile: unused.privateKey.replacing("unused", with: "key"), keyID: "ec")
        #expect(!accepts(try token(renamed), keys))
    }

    @Test func `without a kid in a set match any kid`() throws {
        let files = try TestKeys()
        let pair = try files.pair(.ec)
        let path = try files.write(#"{"keys":[\#(try files.jwk(.ec, publicKey: pair.publicKey))]}"#, to: "jwks.json")
        let keys = try load { $0.keySet = path }
        for name in [nil, "anything"] {
            #expect(accepts(try token(TokenIssuer(privateKeyFile: pair.privateKey, keyID: name)), keys))
        }
    }

    @Test func `verify no token of another algorithm, whatever its header says`() throws {
        let files = try TestKeys()
        let payload = #"{"sub":"alice","exp":1900000000}"#
        var (rings, tokens): ([KeyRing], [String]) = ([], [])
        rings.append(try load { $0.secret = TestKeys.secret })
        tokens.append(try TestKeys.token(payload: payload))
        for kind in TestKeys.Kind.allCases {
            let pair = try files.pair(kind)
            rings.append(try load { $0.publicKeys = [pair.publicKey] })
            tokens.append(try files.token(payload: payload, kind, privateKey: pair.privateKey))
        }
        let headers = try ["HS256", "RS256", "ES256", "EdDSA", "none", "None", "", "hs256", "HS512", "ES384"].map {
            try TestKeys.base64URL("printf %s '{\"alg\":\"\($0)\"}'")
        }
        for (ring, keys) in rings.enumerated() {
            for (signer, token) in tokens.enumerated() {
                #expect(accepts(token, keys) == (ring == signer))
                let rest = token.split(separator: ".").dropFirst()
                for header in headers where !token.hasPrefix(header + ".") {
                    #expect(!accepts(([header[...]] + rest).joined(separator: "."), keys))
                }
                #expect(!accepts("\(headers[4]).\(rest[1]).", keys))
            }
        }
    }

    @Test(arguments: [
        #""kty":"RSA","e":"AQ","n":N"#, #""kty":"RSA","e":"AA","n":N"#, #""kty":"RSA","e":"","n":N"#,
        #""kty":"RSA","e":"AQAA","n":N"#, #""kty":"RSA","e":"AQAB","n":"""#, #""kty":"RSA","e":"AQAB","n":"AQAB""#,
        #""kty":"RSA","e":"AQAB","n":"not base64url""#, #""kty":"RSA","e":"AQAB","n":7"#, #""kty":"RSA","n":N"#,
        #""kty":"RSA","e":"AQAB","n":N,"use":7"#, #""kty":"RSA","e":"AQAB","n":N,"kid":null"#,
        #""kty":"RSA","e":"AQAB","n":N,"alg":"ES256""#, #""kty":"RSA","e":"AQAB","n":N,"alg":"PS256""#,
        #""kty":"oct","k":N"#, #""kty":"EC","crv":"P-256","x":X"#, #""kty":"EC","crv":"P-256","x":X,"y":X"#,
        #""kty":"EC","crv":"P-384","x":X,"y":Y"#, #""kty":"EC","x":X,"y":Y"#,
        #""kty":"OKP","crv":"Ed25519","x":"""#, #""kty":"OKP","crv":"Ed448","x":X"#,
        #""kty":"OKP","crv":"X25519","x":X"#, #""kty":"OKP","crv":"Ed25519","x":"AAAA""#,
        #""kty":"OKP","crv":"Ed25519","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA""#,
    ])
    func `in a set are skipped if malformed, weak or for another use`(members: String) throws {
        let files = try TestKeys()
        // The public keys of RFC 7515, A.2 and A.3.
        let n = """
            ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZ\
            S-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2\
            R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcD\
            TW9gb54h4FRWyuXpoQ
            """
        let (x, y) = ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
        let bad = members.replacing(":N", with: ":\"\(n)\"").replacing(":X", with: ":\"\(x)\"").replacing(
            ":Y", with: ":\"\(y)\"")
        let good = #"{"kty":"RSA","e":"AQAB","n":"\#(n)"},{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#
        let alone = try files.write("{\"keys\":[{\(bad)}]}", to: "bad.json")
        try refuses(alone, "no key") { $0.keySet = alone }
        let both = try files.write("{\"keys\":[{\(bad)},\(good),7,null]}", to: "both.json")
        #expect(try load { $0.keySet = both }.count == 2)
    }

    @Test(arguments: [
        "", "[]", "{}", "null", #"{"keys":null}"#, #"{"keys":{}}"#, #"{"keys":[]} x"#, #"{"keys":[],"keys":[]}"#,
        #"{"keys":[{"kty":"RSA","kty":"EC"}]}"#, #"{"keys":["#,
    ])
    func `are refused if the text is not a key set`(text: String) throws {
        let files = try TestKeys()
        let path = try files.write(text, to: "jwks.json")
        try refuses("JSON Web Key Set") { $0.keySet = path }
    }

    @Test func `that are unusable are refused with the name of their file and without its contents`() throws {
        let files = try TestKeys()
        let pair = try files.pair(.rsa)
        let text = try files.write("not a key, but secret words", to: "text")
        try refuses("/nowhere/key", "No such file") { $0.publicKeys = ["/nowhere/key"] }
        try refuses("cannot be read") { $0.publicKeys = [""] }
        try refuses(pair.privateKey, "private key", "-pubout") { $0.publicKeys = [pair.privateKey] }
        try refuses(pair.publicKey, "--jwt-key") { $0.secretFile = pair.publicKey }
        try refuses(text, "RS256") { $0.publicKeys = [text] }
        try refuses(text, "JSON Web Key Set") { $0.keySet = text }
        let certificate = try files.write("-----BEGIN CERTIFICATE-----\n", to: "cert")
        try refuses(certificate, "certificate", "-pubkey") { $0.publicKeys = [certificate] }
        let two = try files.write(try run("cat", pair.publicKey, pair.publicKey), to: "two")
        try refuses(two, "more than one key") { $0.publicKeys = [two] }
        let empty = try files.write(#"{"keys":[]}"#, to: "empty.json")
        try refuses(empty, "no key for RS256") { $0.keySet = empty }
        let large = try files.write(String(repeating: "x", count: KeyFile.maximumBytes + 1), to: "large")
        try refuses(large, "\(KeyFile.maximumBytes)") { $0.secretFile = large }
        let error = #expect(throws: KeyError.self) { try load { $0.publicKeys = [text] } }
        #expect(error?.description.contains("secret words") == false)
    }

    @Test func `are bounded in number`() throws {
        let files = try TestKeys()
        let path = try files.pair(.ec).publicKey
        let most = try load { $0.publicKeys = Array(repeating: path, count: KeyRing.maximumKeys) }
        #expect(most.count == KeyRing.maximumKeys)
        try refuses("\(KeyRing.maximumKeys)") {
            $0.publicKeys = Array(repeating: path, count: KeyRing.maximumKeys)
            $0.secret = TestKeys.secret
        }
    }
}
