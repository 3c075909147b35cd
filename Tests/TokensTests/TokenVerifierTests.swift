import Chat
import TestSupport
import Testing
import Wire

@testable import Tokens

@Suite("A token")
struct TokenVerifierTests {
    /// The current time for the tests, in seconds.
    private let now: Int64 = 1_800_000_000

    private func verifier(_ configure: (inout TokenRules) -> Void = { _ in }) throws -> TokenVerifier {
        var sources = KeySources()
        sources.secret = TestKeys.secret
        var rules = TokenRules(keys: try sources.load())
        configure(&rules)
        return TokenVerifier(rules: rules)
    }

    private func code(of claims: String, _ verifier: TokenVerifier, at milliseconds: Int64) -> Problem.Code? {
        do throws(Problem) {
            _ = try verifier.identity(of: Claims(Array(claims.utf8)), at: Timestamp(milliseconds: milliseconds))
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `is valid from 60 s before its nbf to 60 s after its exp, to the millisecond`() throws {
        let verifier = try verifier()
        #expect(verifier.rules.leeway == .seconds(60))
        let claims = #"{"sub":"a","nbf":\#(now - 100),"exp":\#(now)}"#
        #expect(code(of: claims, verifier, at: (now + 60) * 1000 - 1) == nil)
        #expect(code(of: claims, verifier, at: (now + 60) * 1000) == .tokenExpired)
        #expect(code(of: claims, verifier, at: (now - 160) * 1000) == nil)
        #expect(code(of: claims, verifier, at: (now - 160) * 1000 - 1) == .tokenNotYetValid)
    }

    @Test func `ends at its exp, or with the leeway if verified within it, and no later than the year 9999`() throws {
        let verifier = try verifier()
        func end(_ expiry: String) throws -> Timestamp? {
            let claims = try Claims(Array(#"{"sub":"a","exp":\#(expiry)}"#.utf8))
            return try verifier.identity(of: claims, at: Timestamp(milliseconds: now * 1000)).end
        }
        #expect(try end("\(now)") == Timestamp(milliseconds: (now + 60) * 1000))
        #expect(try end("\(now - 1).5") == Timestamp(milliseconds: (now + 59) * 1000 + 500))
        #expect(try end("\(now).5") == Timestamp(milliseconds: now * 1000 + 500))
        #expect(try end("\(now + 10)") == Timestamp(milliseconds: (now + 10) * 1000))
        #expect(try end("1e300") == .latest)
    }

    @Test(arguments: [
        #"{"exp":1900000000}"#, #"{"sub":"","exp":1900000000}"#, #"{"sub":"a b","exp":1900000000}"#,
        #"{"sub":"a"}"#, #"{"sub":"a","exp":1900000000,"aud":"x"}"#, #"{"sub":"a","exp":1900000000,"aud":[]}"#,
    ])
    func `without a user, without an expiry, or with an unexpected aud is refused`(claims: String) throws {
        #expect(code(of: claims, try verifier(), at: now * 1000) == .tokenInvalid)
    }

    @Test(
        arguments: [
            (#""iss":"i","aud":"x""#, nil), (#""iss":"i","aud":["y","x"]"#, nil),
            (#""iss":"j","aud":"x""#, .tokenInvalid),
            (#""iss":"i","aud":"y""#, .tokenInvalid), (#""iss":"i""#, .tokenInvalid), (#""aud":"x""#, .tokenInvalid),
        ] as [(String, Problem.Code?)])
    func `must have the configured issuer and audience`(claims: String, expected: Problem.Code?) throws {
        let verifier = try verifier {
            $0.issuer = "i"
            $0.audience = "x"
        }
        #expect(code(of: #"{"sub":"a","exp":1900000000,\#(claims)}"#, verifier, at: now * 1000) == expected)
    }

    @Test func `is refused above the maximum length`() throws {
        let verifier = try verifier()
        let payload = #"{"sub":"a","exp":1900000000}"#
        let moment = Timestamp(milliseconds: now * 1000)
        func token(padding: Int) throws -> [UInt8] {
            let header = #"{"alg":"HS256","x":"\#(String(repeating: "x", count: padding))"}"#
            return Array(try TestKeys.token(header: header, payload: payload).utf8)
        }
        let fixed = try token(padding: 0).count
        // Three bytes become four characters.
        let longest = (TokenVerifier.maximumBytes - fixed) / 4 * 3
        #expect(try verifier.identity(of: token(padding: longest), at: moment).user == UserID("a"))
        let problem = #expect(throws: Problem.self) {
            try verifier.identity(of: token(padding: longest + 6), at: moment)
        }
        #expect(problem?.limit == TokenVerifier.maximumBytes)
        #expect(problem?.code == .tokenInvalid)
    }
}
