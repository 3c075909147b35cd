import Testing
import Wire

@Suite struct EditTests {
    private func edit(_ body: String) throws(Problem) -> Edit {
        try Edit.decode(Array(body.utf8))
    }

    @Test func `absent fields are kept, null or empty ones are cleared`() throws {
        let content = Content(
            text: "hi", attachments: [Attachment(kind: .link, url: "http://x")], replyTo: 3,
            data: Array(#"{"a":1}"#.utf8))
        let cases: [(String, Content)] = [
            ("{}", content),
            (
                #"{"text":"b\u0079e"}"#,
                Content(text: "bye", attachments: content.attachments, replyTo: 3, data: content.data)
            ),
            (#"{"text":null}"#, Content(attachments: content.attachments, replyTo: 3, data: content.data)),
            (#"{"text":"","data":{}}"#, Content(attachments: content.attachments, replyTo: 3)),
            (#"{"attachments":[],"data":null}"#, Content(text: "hi", replyTo: 3)),
            (
                #"{"mentions":["bob"],"mentions_room":true}"#,
                Content(
                    text: "hi", attachments: content.attachments, replyTo: 3,
                    mentions: Mentions(users: [try UserID("bob")], room: true), data: content.data)
            ),
            (
                #"{"attachments":null,"data":{"b":[ ]}}"#,
                Content(text: "hi", replyTo: 3, data: Array(#"{"b":[]}"#.utf8))
            ),
        ]
        for (body, expected) in cases {
            #expect(try edit(body).applied(to: content).isSame(as: expected), "\(body)")
        }
    }

    @Test func `an edit replaces mentions, and null clears them`() throws {
        let content = Content(text: "hi", mentions: Mentions(users: [try UserID("bob")], room: true))
        let cases: [(String, Mentions)] = [
            (#"{"text":"bye"}"#, content.mentions),
            (#"{"mentions":["carol","carol"]}"#, Mentions(users: [try UserID("carol")], room: true)),
            (#"{"mentions":null}"#, Mentions(room: true)), (#"{"mentions":[],"mentions_room":null}"#, Mentions()),
            (#"{"mentions_room":false}"#, Mentions(users: content.mentions.users)),
        ]
        for (body, expected) in cases { #expect(try edit(body).applied(to: content).mentions == expected, "\(body)") }
    }

    @Test func `an edit has the same effect after encoding and decoding`() throws {
        let content = Content(
            text: "hi", attachments: [Attachment(kind: .link, url: "http://x")],
            mentions: Mentions(users: [try UserID("bob")], room: true), data: Array(#"{"a":1}"#.utf8))
        let files = [Attachment(kind: .link, url: "http://y"), Attachment(kind: .file, url: "http://z")]
        for sent in [
            Edit(), Edit(text: "b\"ye"), Edit(text: ""), Edit(attachments: files, data: Array(#"{"b":2}"#.utf8)),
            Edit(text: "bye", attachments: [], data: []), Edit(mentions: [try UserID("carol")], mentionsRoom: false),
            Edit(mentions: [], mentionsRoom: true),
        ] {
            let received = try edit(written(sent.encode))
            #expect(try received.applied(to: content).isSame(as: sent.applied(to: content)))
        }
    }

    @Test func `fields that cannot be edited are ignored`() throws {
        let content = Content(text: "hi", replyTo: 3)
        let body = #"{"reply_to":"x","client_message_id":7,"seq":1,"reactions":{},"deleted":true,"text":"bye"}"#
        #expect(try edit(body).applied(to: content).isSame(as: Content(text: "bye", replyTo: 3)))
    }

    @Test(arguments: [#"{"text":""}"#, #"{"text":null}"#, #"{"attachments":null,"text":""}"#, #"{"text":" \u200b"}"#])
    func `an edit must not leave the message empty`(body: String) throws {
        let edit = try edit(body)
        #expect(problem { () throws(Problem) in try edit.applied(to: Content(text: "hi")) } == .emptyMessage)
        let attached = Content(text: "hi", attachments: [Attachment(kind: .link, url: "http://x")])
        #expect((problem { () throws(Problem) in try edit.applied(to: attached) } == nil) == (edit.attachments == nil))
    }

    @Test(
        arguments: [
            ("", 400, "invalid_json"), ("[]", 400, "invalid_json"), (#"{"text":7}"#, 400, "invalid_field"),
            (#"{"data":[]}"#, 400, "invalid_field"), (#"{"text":"a","text":"b"}"#, 400, "invalid_json"),
            (#"{"text":"\u0000"}"#, 422, "nul_character"),
            (#"{"attachments":[{"type":"x"}]}"#, 422, "invalid_attachment"),
            (#"{"attachments":[{"type":"image","url":"http://x"}]}"#, 422, "size_missing"),
            (#"{"text":"\#(String(repeating: "x", count: Limits.textBytes + 1))"}"#, 422, "too_long"),
            (#"{"attachments":[{"type":"x"}],"text":7}"#, 400, "invalid_field"),
        ])
    func `the fields follow the same rules as those of a send`(body: String, status: Int, code: String) {
        let fault = problem { () throws(Problem) in try edit(body) }
        #expect(fault?.status == status)
        #expect(fault?.code.string == code)
    }
}
