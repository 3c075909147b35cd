import HTTP
import HTTPTypes
import Testing
import Wire

@Suite("The bounds of a send")
struct SendLimitTests {
    /// A send at a limit, and one above it.
    struct Bound: CustomTestStringConvertible {
        var testDescription: String
        var draft: @Sendable (Int) -> String
        var limit: Int
        var code: String
        var field: String
    }

    private static func text(_ count: Int) -> String {
        String(repeating: "x", count: count)
    }

    private static func attachment(_ name: String, _ value: String) -> String {
        #"{"attachments":[{"type":"file","url":"http://x.example","\#(name)":"\#(value)"}]}"#
    }

    private static let bounds: [Bound] =
        [
            Bound(
                testDescription: "the text's bytes", draft: { #"{"text":"\#(text($0))"}"# }, limit: Limits.textBytes,
                code: "too_long", field: "text"),
            Bound(
                testDescription: "the id's bytes", draft: { #"{"text":"x","client_message_id":"\#(text($0))"}"# },
                limit: Limits.clientMessageIDBytes, code: "too_long", field: "client_message_id"),
            Bound(
                testDescription: "the data's bytes, compact",
                draft: { #"{"text":"x","data":  { "k" : "\#(text($0 - 8))" } }"# }, limit: Limits.dataBytes,
                code: "too_long", field: "data"),
            Bound(
                testDescription: "the data's depth",
                draft: { depth in
                    let open = String(repeating: "[", count: depth - 1)
                    let close = String(repeating: "]", count: depth - 1)
                    return #"{"text":"x","data":{"k":\#(open)\#(close)}}"#
                }, limit: Limits.dataDepth, code: "too_deep", field: "data"),
            Bound(
                testDescription: "the number of attachments",
                draft: { count in
                    let attachments = Array(repeating: #"{"type":"link","url":"http://x.example"}"#, count: count)
                    return #"{"attachments":[\#(attachments.joined(separator: ","))]}"#
                }, limit: Limits.attachments, code: "too_many", field: "attachments"),
            Bound(
                testDescription: "the number of mentions",
                draft: { count in
                    let users = (0..<count).map { #""user\#($0)""# }
                    return #"{"text":"x","mentions":[\#(users.joined(separator: ","))]}"#
                }, limit: Limits.mentions, code: "too_many", field: "mentions"),
            Bound(
                testDescription: "a URL's bytes",
                draft: { #"{"attachments":[{"type":"link","url":"http://\#(text($0 - 7))"}]}"# },
                limit: Limits.attachmentStringBytes, code: "too_long", field: "attachments[0].url"),
        ]
        + ["mime", "title", "description", "thumbhash"].map { name in
            Bound(
                testDescription: "a \(name)'s bytes", draft: { attachment(name, text($0)) },
                limit: Limits.attachmentStringBytes, code: "too_long", field: "attachments[0].\(name)")
        }

    @Test(arguments: bounds)
    func `admit the largest sizes, and refuse one more`(bound: Bound) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            #expect(try client.post(bound.draft(bound.limit)).status == .created)
            let response = try client.post(bound.draft(bound.limit + 1))
            #expect(response.status == 422)
            let problem = try response.problem
            #expect(problem.code == bound.code)
            #expect(problem.field == bound.field)
            #expect(problem.limit == bound.limit)
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 1)
        }
    }

    @Test func `count bytes of UTF-8, not characters or escapes`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let half = String(repeating: "é", count: Limits.textBytes / 2)
            #expect(try client.post(#"{"text":"\#(half)"}"#).status == .created)
            #expect(try client.post(#"{"text":"\#(half)x"}"#).status == 422)
            // The largest text, escaped as long as possible, fits into a body.
            let escaped = "x" + String(repeating: #"\u0001"#, count: Limits.textBytes - 1)
            #expect(try client.post(#"{"text":"\#(escaped)"}"#).status == .created)
        }
    }

    @Test func `apply to ids of rooms and users`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            #expect(try client.send("x", to: Self.text(RoomID.maximumBytes)).seq == 1)
            let room = try client.post(#"{"text":"x"}"#, to: Self.text(RoomID.maximumBytes + 1))
            #expect(room.status == .badRequest)
            #expect(try room.problem.code == "invalid_room")
            #expect(try room.problem.limit == RoomID.maximumBytes)
            #expect(try client.send("x", as: Self.text(UserID.maximumBytes)).seq == 1)
            let user = try client.post(#"{"text":"x"}"#, as: Self.text(UserID.maximumBytes + 1))
            #expect(user.status == .badRequest)
            #expect(try user.problem.code == "invalid_user")
            #expect(try user.problem.limit == UserID.maximumBytes)
        }
    }
}
