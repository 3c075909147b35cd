import Chat
import HTTP
import HTTPTypes
import TestSupport
import Testing
import Wire

@testable import Server

@Suite("A profile that a token claims")
struct ClaimedProfileTests {
    private func profile(of user: String, _ client: HTTPClient, _ field: HTTPField) throws -> String {
        try client.get("/v1/profiles?users=\(user)", fields: [field]).text
    }

    @Test func `is set where it differs, by requests and by sockets; what it does not claim stays`() async throws {
        let bob = HTTPField.bearer(try TestToken.of("bob", #""name":"Bob","picture":"https://x/y""#))
        let carol = HTTPField.bearer(try TestToken.of("carol", #""name":"Carol","picture":"no URL""#))
        let plain = HTTPField.bearer(try TestToken.of("dora"))
        let plainBob = HTTPField.bearer(try TestToken.of("bob"))
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            let body = Array(#"{"name":"Old","data":{"a":1}}"#.utf8)
            #expect(try client.request(.put, "/v1/profiles/bob", fields: [plainBob], body: body).status == .created)
            _ = try client.get("/v1/rooms/lobby", fields: [carol])
            _ = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live", fields: [bob])
            let expected = #"{"profiles":[{"user":"bob","name":"Bob","avatar":"https://x/y","data":{"a":1}}]}"#
            try waitUntil {
                let carols = try? profile(of: "carol", client, plain)
                return carols == #"{"profiles":[{"user":"carol","name":"Carol"}]}"#
            }
            try waitUntil { (try? profile(of: "bob", client, plain)) == expected }
            #expect(try profile(of: "dora", client, plain) == #"{"profiles":[]}"#)
        }
    }

    @Test func `is compared once a minute for each user`() throws {
        var claimed = ClaimedProfiles()
        func isDue(_ user: String, _ seconds: Int64) throws -> Bool { claimed.isDue(try UserID(user), at: seconds) }
        #expect(try isDue("bob", 1_000))
        #expect(try isDue("carol", 1_001))
        #expect(try !isDue("bob", 1_000))
        #expect(try !isDue("bob", 1_059))
        #expect(try isDue("bob", 1_060))
        #expect(try !isDue("carol", 1_060))
        // The clock was set back.
        #expect(try isDue("bob", 500))
    }

    @Test func `is remembered for a bounded number of users`() throws {
        var claimed = ClaimedProfiles()
        func isDue(_ user: String, _ seconds: Int64) throws -> Bool { claimed.isDue(try UserID(user), at: seconds) }
        for number in 0..<ClaimedProfiles.maximumUsers { #expect(try isDue("u\(number)", 1)) }
        #expect(try !isDue("u0", 1))
        #expect(try isDue("one-more", 1))
        #expect(try isDue("u0", 1))
    }
}
