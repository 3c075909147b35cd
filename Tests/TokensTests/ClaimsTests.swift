import Chat
import Testing
import Wire

@testable import Tokens

@Suite("A token's claims")
struct ClaimsTests {
    private func claims(_ json: String) throws(Problem) -> Claims {
        try Claims(Array(json.utf8))
    }

    @Test func `are read among any others`() throws {
        let claims = try claims(
            #"{"sub":"a","exp":1.5e9,"nbf":1.25,"iss":"i","aud":"x","rooms":["r","t-*"],"admin":true,"jti":{"a":[1]}}"#)
        #expect(claims.subject == "a" && claims.expiry == 1.5e9 && claims.notBefore == 1.25)
        #expect(claims.issuer == "i" && claims.audience == ["x"] && claims.isAdmin)
        #expect(claims.rooms?.map(\.string) == ["r", "t-*"])
        #expect(try self.claims(#"{"aud":["x","y"]}"#).audience == ["x", "y"])
        let named = try self.claims(#"{"name":"Bob","picture":"https://x/y"}"#)
        #expect(named.name == "Bob" && named.picture == "https://x/y")
        #expect(try self.claims(#"{"name":{"a":[1]},"picture":null}"#) == (try self.claims("{}")))
        #expect(try self.claims("{}") == (try self.claims(#"{"admin":false}"#)))
    }

    @Test(arguments: [
        (#"{"sub":7}"#, "sub"), (#"{"exp":"soon"}"#, "exp"), (#"{"exp":null}"#, "exp"), (#"{"exp":1e999}"#, "exp"),
        (#"{"nbf":true}"#, "nbf"), (#"{"rooms":null}"#, "rooms"), (#"{"rooms":"lobby"}"#, "rooms"),
        (#"{"rooms":[1]}"#, "rooms"), (#"{"rooms":["a b"]}"#, "rooms"), (#"{"admin":"true"}"#, "admin"),
        (#"{"admin":null}"#, "admin"), (#"{"admin":1}"#, "admin"), (#"{"aud":7}"#, "aud"),
        (#"{"aud":[7]}"#, "aud"), (#"{"sub":"a","sub":"b"}"#, "payload"), ("[]", "payload"), ("", "payload"),
        ("{} x", "payload"),
    ])
    func `of a wrong type are refused by name, including null and duplicates`(json: String, name: String) throws {
        let problem = #expect(throws: Problem.self) { try claims(json) }
        #expect(problem?.code == .tokenInvalid && problem?.status == 401)
        #expect(problem?.detail.contains(name) == true)
    }

    @Test func `are bounded in the number of rooms`() throws {
        func json(_ count: Int) -> String {
            #"{"rooms":[\#(Array(repeating: #""r""#, count: count).joined(separator: ","))]}"#
        }
        #expect(try claims(json(Claims.maximumRooms)).rooms?.count == 128)
        let problem = #expect(throws: Problem.self) { try claims(json(Claims.maximumRooms + 1)) }
        #expect(problem?.limit == Claims.maximumRooms)
    }
}
