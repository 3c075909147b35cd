import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing

/// Plays App Store guideline 1.2: user-generated content needs a method to report it with timely responses, to block
/// abusive users, and to remove content.
@Suite("Moderation")
struct ModerationTests {
    private struct Reports: Decodable {
        struct Report: Decodable {
            struct Entry: Decodable {
                var user: String
                var reason: String
                var note: String?
            }

            var room: String
            var seq: Int64
            var state: String
            var action: String?
            var closedBy: String?
            var secondsToAction: Int?
            var reporters: Int
            var reasons: [String: Int]
            var reports: [Entry]
            var message: ReceivedMessage
        }

        var reports: [Report]
        var hasMore: Bool
        var cursor: String?
    }

    private func request(
        _ client: HTTPClient, _ method: HTTPRequest.Method, _ target: String, _ body: String = "", by token: String
    ) throws -> Response {
        try client.request(method, target, fields: [.bearer(token)], body: Array(body.utf8))
    }

    @Test func `goes from an abusive message over its report and a block to its deletion and a ban`() async throws {
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            let (alice, bob) = (try TestToken.of("alice"), try TestToken.of("bob"))
            let moderator = try TestToken.of("mod", #""admin":true"#)
            // Bob writes something abusive, in a room and to Alice.
            let direct = try request(client, .put, "/v1/direct/alice", by: bob)
            let room = try decode(direct.body, as: ReceivedRoom.self).room
            for target in ["/v1/rooms/lobby/messages", "/v1/rooms/\(room)/messages"] {
                let sent = try request(client, .post, target, #"{"text":"I will find you"}"#, by: bob)
                #expect(sent.status == .created)
            }
            // Alice reports it, and blocks Bob.
            let report = #"{"reason":"abuse","note":"a threat"}"#
            for _ in 0..<2 {
                let reported = try request(client, .post, "/v1/rooms/lobby/messages/1/reports", report, by: alice)
                #expect(reported.status == .accepted && reported.text.hasPrefix(#"{"user":"alice","reason":"abuse""#))
            }
            #expect(try request(client, .put, "/v1/blocks/bob", by: alice).status == .created)
            let refused = try request(client, .post, "/v1/rooms/\(room)/messages", #"{"text":"you there?"}"#, by: bob)
            #expect(try refused.status == .forbidden && refused.problem.code == "blocked")
            // Bob tries to hide what he wrote.
            let edited = try request(client, .patch, "/v1/rooms/lobby/messages/1", #"{"text":"hello"}"#, by: bob)
            #expect(edited.status == .ok)
            // The moderator sees it as it was.
            #expect(try request(client, .get, "/v1/admin/reports", by: alice).problem.code == "forbidden")
            let open = try decode(
                request(client, .get, "/v1/admin/reports?state=open", by: moderator).body, as: Reports.self)
            let found = try #require(open.reports.first)
            #expect(open.reports.count == 1 && found.room == "lobby" && found.seq == 1 && found.state == "open")
            #expect(found.message.text == "I will find you" && found.message.sender == "bob")
            #expect(found.reporters == 1 && found.reasons == ["abuse": 1] && found.reports[0].note == "a threat")
            // The moderator deletes the message, bans Bob and closes the report.
            #expect(try request(client, .delete, "/v1/rooms/lobby/messages/1", by: moderator).status == .ok)
            let ban = try request(client, .put, "/v1/admin/bans/bob", #"{"scope":"all"}"#, by: moderator)
            #expect(ban.status == .created)
            let decision = #"{"state":"closed","action":"banned"}"#
            let closed = try decode(
                request(client, .put, "/v1/admin/reports/lobby/1", decision, by: moderator).body,
                as: Reports.Report.self)
            #expect(closed.state == "closed" && closed.action == "banned" && closed.closedBy == "mod")
            #expect(try #require(closed.secondsToAction) >= 0 && closed.message.text == "I will find you")
            // Nobody sees the message any more, and Bob is out.
            let page = try request(client, .get, "/v1/rooms/lobby/messages", by: alice)
            #expect(!page.text.contains("find you") && page.text.contains(#""deleted":true"#))
            for target in ["/v1/rooms/lobby/messages", "/v1/rooms/\(room)/messages"] {
                let sent = try request(client, .post, target, #"{"text":"me again"}"#, by: bob)
                #expect(sent.status == .forbidden)
            }
            // Even without the ban, Alice's direct room refuses him.
            #expect(try request(client, .delete, "/v1/admin/bans/bob", by: moderator).status == .noContent)
            let again = try request(client, .post, "/v1/rooms/\(room)/messages", #"{"text":"x"}"#, by: bob)
            #expect(try again.problem.code == "blocked")
            #expect(try request(client, .put, "/v1/direct/alice", by: bob).problem.code == "blocked")
            let rest = try decode(request(client, .get, "/v1/admin/reports", by: moderator).body, as: Reports.self)
            #expect(rest.reports.isEmpty && !rest.hasMore)
        }
    }

    @Test func `pages through reports by links, and refuses what is not a report`() async throws {
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            let (alice, moderator) = (try TestToken.of("alice"), try TestToken.of("mod", #""admin":true"#))
            for number in 1...3 {
                let sent = try request(client, .post, "/v1/rooms/lobby/messages", #"{"text":"x"}"#, by: alice)
                #expect(sent.status == .created)
                let target = "/v1/rooms/lobby/messages/\(number)/reports"
                #expect(try request(client, .post, target, #"{"reason":"spam"}"#, by: alice).status == .accepted)
            }
            let first = try request(client, .get, "/v1/admin/reports?limit=2", by: moderator)
            let page = try decode(first.body, as: Reports.self)
            #expect(page.hasMore && page.reports.map(\.seq) == [1, 2])
            let link = try #require(first["Link"]).split(separator: ">")[0].dropFirst()
            let rest = try decode(request(client, .get, String(link), by: moderator).body, as: Reports.self)
            #expect(!rest.hasMore && rest.reports.map(\.seq) == [3])
            let wrong = [
                ("/v1/admin/reports?cursor=abc:open:1:1", "", HTTPRequest.Method.get, "cursor_unknown"),
                ("/v1/admin/reports?cursor=abc:1", "", .get, "invalid_cursor"),
                ("/v1/admin/reports?state=closed&cursor=abc:open:1:1", "", .get, "invalid_cursor"),
                ("/v1/admin/reports?state=old", "", .get, "invalid_field"),
                ("/v1/admin/reports/lobby/9", #"{"state":"closed","action":"none"}"#, .put, "report_not_found"),
                ("/v1/admin/reports/lobby/1", #"{"state":"closed","action":"shot"}"#, .put, "invalid_field"),
                ("/v1/admin/reports/lobby/1", #"{"action":"none"}"#, .put, "invalid_field"),
            ]
            for (target, body, method, code) in wrong {
                #expect(try request(client, method, target, body, by: moderator).problem.code == code, "\(target)")
            }
        }
    }
}
