import Testing
import Wire

@Suite("An app's answer about a message")
struct AppAnswerTests {
    private func decode(_ json: String) throws -> AppAnswer { try AppAnswer.decode(Array(json.utf8)) }

    @Test func `allows, with another text or other data`() throws {
        for (json, text, data): (String, String?, String?) in [
            (#"{"allow":true}"#, nil, nil), (#"{"allow":true,"text":null,"more":[1]}"#, nil, nil),
            (#"{"allow":true,"text":"h*"}"#, "h*", nil), (#"{"text":"","data":{},"allow":true}"#, "", ""),
            (#"{"allow":true,"data":{ "a": 1 }}"#, nil, #"{"a":1}"#),
        ] {
            guard case .allow(let newText, let newData) = try decode(json) else {
                Issue.record("\(json) does not allow")
                continue
            }
            #expect(newText == text && newData.map { String(decoding: $0, as: UTF8.self) } == data, "\(json)")
        }
    }

    @Test func `denies whatever else it has, with a detail that can be shown`() throws {
        let long = String(repeating: "x", count: AppAnswer.detailBytes + 1)
        for (json, expected) in [
            (#"{"allow":false,"detail":"No."}"#, "No."), (#"{"allow":false}"#, AppAnswer.usualDetail),
            (#"{"detail":" ","allow":false}"#, AppAnswer.usualDetail),
            (#"{"allow":false,"detail":1,"text":2,"data":[]}"#, AppAnswer.usualDetail),
            (#"{"allow":false,"detail":"\#(long)"}"#, AppAnswer.usualDetail),
        ] {
            guard case .deny(let detail) = try decode(json) else {
                Issue.record("\(json) does not deny")
                continue
            }
            #expect(detail == expected)
        }
    }

    @Test(arguments: [
        ("", "invalid_json"), ("OK", "invalid_json"), (#"[{"allow":true}]"#, "invalid_json"),
        (#"{"allow":true"#, "invalid_json"), ("{}", "invalid_field"), (#"{"allow":"yes"}"#, "invalid_field"),
        (#"{"allow":null}"#, "invalid_field"), (#"{"allow":true,"text":1}"#, "invalid_field"),
        (#"{"allow":true,"data":[]}"#, "invalid_field"), (#"{"allow":true,"text":"\u0000"}"#, "nul_character"),
        (#"{"allow":true,"text":"\#(String(repeating: "x", count: Limits.textBytes + 1))"}"#, "too_long"),
        (#"{"allow":true,"data":{"a":"\#(String(repeating: "x", count: Limits.dataBytes))"}}"#, "too_long"),
    ])
    func `is none if it is not JSON, does not say whether, or has a value that a message must not have`(
        json: String, code: String
    ) {
        let problem = #expect(throws: Problem.self) { try decode(json) }
        #expect(problem?.code.string == code)
    }

    @Test func `is to a question with the content, the client's id, and the message that is edited`() throws {
        var content = Content(text: "a\"b", replyTo: 3, mentions: Mentions(users: [try UserID("bob")]))
        content.data = Array(#"{"a":1}"#.utf8)
        var bytes: [UInt8] = []
        content.encodeQuestion(
            room: try RoomID("lobby"), sender: try UserID("alice"), clientMessageID: "c1", edited: 7, into: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"type":"before_send","room":"lobby","sender":"alice","message":{"text":"a\"b","client_message_id":"c1","reply_to":3,"mentions":["bob"],"data":{"a":1}},"edits":7}"#
        )
        bytes = []
        Content(text: "hi").encodeQuestion(
            room: try RoomID("lobby"), sender: try UserID("alice"), clientMessageID: nil, edited: nil, into: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"type":"before_send","room":"lobby","sender":"alice","message":{"text":"hi"}}"#)
    }
}
