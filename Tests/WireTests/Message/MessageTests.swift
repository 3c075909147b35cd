import Foundation
import TestSupport
import Testing
import Wire

@Suite struct MessageTests {
    private let time = Timestamp(milliseconds: 1_795_222_923_004)

    private func message(_ content: Content) throws -> Message {
        Message(
            room: try RoomID("lobby"), seq: 3, rev: 7, sender: try UserID("alice"), content: content, createdAt: time)
    }

    @Test func `all fields are encoded in order`() throws {
        var message = try message(
            Content(
                text: "hi \"you\"", attachments: [Attachment(kind: .link, url: "http://x")], replyTo: 2,
                data: Array(#"{"k":1}"#.utf8)))
        message.clientMessageID = "c-1"
        message.reactions = [
            Reaction(key: "❤️", count: 2, users: [try UserID("bob"), try UserID("carol")]),
            Reaction(key: "+1", count: 70, users: []),
        ]
        message.pinned = Pin(by: try UserID("da\"ve"), at: Timestamp(milliseconds: time.milliseconds + 2))
        message.editedAt = Timestamp(milliseconds: time.milliseconds + 1)
        message.deleted = true
        let text = """
            {"room":"lobby","seq":3,"rev":7,"sender":"alice","client_message_id":"c-1","text":"hi \\"you\\"",\
            "attachments":[{"type":"link","url":"http://x"}],"reply_to":2,"data":{"k":1},\
            "reactions":[{"key":"❤️","count":2,"users":["bob","carol"]},{"key":"+1","count":70,"users":[]}],\
            "pinned":{"by":"da\\"ve","at":"2026-11-21T01:02:03.006Z"},"created_at":"2026-11-21T01:02:03.004Z","edited_at":"2026-11-21T01:02:03.005Z","deleted":true}
            """
        #expect(written(message.encode) == text)
        let reread = try Message(decoding: Array(text.utf8))
        #expect(reread.reactions == message.reactions && reread.pinned == message.pinned)
        #expect(written(reread.encode) == text)
    }

    @Test func `a deleted message keeps its place, its sender and its time`() throws {
        var message = try message(
            Content(
                text: "hi", attachments: [Attachment(kind: .link, url: "http://x")], replyTo: 2, data: [0x7B, 0x7D]))
        #expect(message.isAsSent)
        message.clientMessageID = "c-1"
        message.reactions = [Reaction(key: "+1", count: 1, users: [try UserID("bob")])]
        message.pinned = Pin(by: try UserID("bob"), at: time)
        message.editedAt = time
        #expect(!message.isAsSent && !message.tombstone.isAsSent)
        let text =
            #"{"room":"lobby","seq":3,"rev":7,"sender":"alice","client_message_id":"c-1","#
            + #""created_at":"2026-11-21T01:02:03.004Z","deleted":true}"#
        #expect(written(message.tombstone.encode) == text)
    }

    @Test func `empty, null and false fields are left out`() throws {
        let tombstone = try message(Content())
        let text = #"{"room":"lobby","seq":3,"rev":7,"sender":"alice","created_at":"2026-11-21T01:02:03.004Z"}"#
        #expect(written(tombstone.encode) == text)
        #expect(written(try Message(decoding: Array(text.utf8)).encode) == text)
    }

    @Test func `random messages survive encoding and decoding, also with another parser`() throws {
        var random = SeededGenerator(seed: 6)
        for index in 1...300 {
            let body = """
                {"text":\(random.quoted("t" + random.string(upTo: 80))),"data":\(random.object()),
                "client_message_id":\(random.quoted("c" + random.string(upTo: 20))),"reply_to":\(index)}
                """
            let draft = try Draft.decode(body)
            let sender = try UserID("ü\(index)\"\\")
            var bytes: [UInt8] = []
            Message.encode(
                room: try RoomID("r-\(index)"), seq: Int64(index), rev: Int64(index) * 3, sender: sender, draft: draft,
                createdAt: time, into: &bytes)

            let pieces = Message.Pieces(room: try RoomID("r-\(index)"), sender: sender, draft: draft)
            #expect(
                pieces.beforeSeq + Array("\(index)".utf8) + Message.Pieces.beforeRev + Array("\(index * 3)".utf8)
                    + pieces.afterRev + Array(written(time.append).utf8) + Message.Pieces.afterTime == bytes)

            let message = try Message(decoding: bytes.span)
            #expect(message.sender == sender)
            #expect(message.clientMessageID == draft.clientMessageID)
            #expect(message.content.isSame(as: draft.content))
            var again: [UInt8] = []
            message.encode(into: &again)
            #expect(again == bytes)

            let other = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
            let asked = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
            #expect(other["text"] as? String == asked["text"] as? String)
            #expect(other["rev"] as? Int == index * 3)
            let data = try #require(asked["data"] as? NSDictionary)
            #expect((other["data"] as? NSDictionary ?? [:]) == data)
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"room":"r","seq":1,"rev":1,"sender":"u"}"#,
        #"{"room":"r","seq":"1","rev":1,"sender":"u","created_at":"2026-11-21T01:02:03.004Z"}"#,
        #"{"room":"r","seq":1,"rev":1,"sender":"u","created_at":"yesterday"}"#,
        #"{"room":"r","seq":1,"rev":1,"sender":"u","created_at":"2026-11-21T01:02:03.004Z"}}"#,
        #"{"room":"r","seq":1,"rev":1,"sender":"u","pinned":{},"created_at":"2026-11-21T01:02:03.004Z"}"#,
    ])
    func `an unreadable snapshot is an internal error`(text: String) {
        let fault = problem { () throws(Problem) in try Message(decoding: Array(text.utf8)) }
        #expect(fault?.status == 500)
        #expect(fault?.code == .internalError)
    }

    @Test func `a stored snapshot is parsed even if it exceeds the limits of sends or has unknown fields`() throws {
        let text = String(repeating: "x", count: Limits.textBytes + 1)
        let snapshot = """
            {"room":"r","seq":1,"rev":1,"sender":"u","later":{"a":[]},"text":"\(text)",\
            "reactions":[{"key":"k","later":1,"count":1,"users":null}],"created_at":"2026-11-21T01:02:03.004Z"}
            """
        let message = try Message(decoding: Array(snapshot.utf8))
        #expect(message.content.text == text)
        #expect(message.reactions == [Reaction(key: "k", count: 1, users: [])])
    }

    @Test func `reaction keys are compared by code point`() {
        #expect(Reaction(key: "\u{E9}", count: 1, users: []) != Reaction(key: "e\u{301}", count: 1, users: []))
    }
}
