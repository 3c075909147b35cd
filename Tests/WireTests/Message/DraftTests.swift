import Testing
import Wire

@Suite struct DraftTests {
    @Test func `a draft with all fields is parsed`() throws {
        let draft = try Draft.decode(
            """
            { "client_message_id": "c-1", "text": "h\\u00e9llo\\n", "reply_to": 7, "expect_head": 41, "unknown": [{"x": 1}],
              "attachments": [{"type": "image", "url": "https://x.test/a.png", "width": 3, "height": 4}],
              "data": { "k" : [1.0, "\\u0041\\/"] } }
            """)
        #expect(draft.clientMessageID == "c-1")
        #expect(draft.content.text == "héllo\n")
        #expect(draft.content.replyTo == 7)
        #expect(draft.expectHead == 41)
        #expect(draft.content.attachments.map(\.url) == ["https://x.test/a.png"])
        #expect(String(decoding: draft.content.data, as: UTF8.self) == #"{"k":[1.0,"A/"]}"#)
    }

    @Test func `a draft is decoded as it was encoded`() throws {
        let content = Content(
            text: "h\"é\n", attachments: [Attachment(kind: .link, url: "http://x")], replyTo: 3,
            data: Array(#"{"a":1}"#.utf8))
        for draft in [
            Draft(clientMessageID: "c\"1", content: content), Draft(content: Content(text: "x"), expectHead: 0),
            Draft(content: Content(attachments: content.attachments)),
        ] {
            let decoded = try Draft.decode(written(draft.encode))
            #expect(decoded.clientMessageID == draft.clientMessageID)
            #expect(decoded.content.isSame(as: draft.content))
            #expect(decoded.expectHead == draft.expectHead)
        }
    }

    @Test func `null and empty count as absent`() throws {
        for body in [
            #"{"text":"x"}"#, #"{"text":"x","client_message_id":null,"attachments":null,"reply_to":null,"data":null}"#,
            #"{"text":"x","expect_head":null}"#,
            #"{"text":"x","attachments":[],"data":{ }}"#,
        ] {
            let draft = try Draft.decode(body)
            #expect(draft.clientMessageID == nil)
            #expect(draft.content.attachments.isEmpty)
            #expect(draft.content.replyTo == nil)
            #expect(draft.content.data.isEmpty)
            #expect(draft.expectHead == nil)
        }
    }

    @Test func `attachments need no text`() throws {
        let attachments = #""attachments":[{"type":"link","url":"http://x"}]"#
        for body in ["{\(attachments)}", #"{"text":"",\#(attachments)}"#, #"{"text":null,\#(attachments)}"#] {
            #expect(try Draft.decode(body).content.attachments.count == 1)
        }
    }

    @Test(arguments: [
        "", "[]", "null", "\"text\"", "5", "{", #"{"text":"x"}x"#, #"{"text":"x","text":"y"}"#,
        #"{"text":"x","t\u0065xt":"y"}"#, #"{"text":"\ud800"}"#, #"{"text":"x","data":{"a":1,"a":1}}"#,
        #"{"text":"x","unknown":{"a":1,"a":1}}"#, #"{"text":"x","unknown":"\udfff"}"#, #"{"text":"x",}"#,
        "\u{FEFF}{\"text\":\"x\"}", #"{"text":5,"#, #"{"text":"","data":[}"#, #"{"text":"\u0000"}}"#,
    ])
    func `a body that is not a JSON object is invalid JSON, whatever else is wrong`(body: String) {
        let fault = problem { () throws(Problem) in try Draft.decode(body) }
        #expect(fault?.status == 400)
        #expect(fault?.code == .invalidJSON)
    }

    @Test(arguments: [
        (#"{"text":5}"#, "text"), (#"{"text":["x"]}"#, "text"), (#"{"text":{"a":"b"}}"#, "text"),
        (#"{"text":true}"#, "text"), (#"{"text":"x","client_message_id":1}"#, "client_message_id"),
        (#"{"text":"x","attachments":{}}"#, "attachments"), (#"{"text":"x","attachments":"a"}"#, "attachments"),
        (#"{"text":"x","attachments":[null]}"#, "attachments[0]"),
        (#"{"text":"x","attachments":[{"type":"link","url":"http://x"},7]}"#, "attachments[1]"),
        (#"{"text":"x","attachments":[{"type":"link","url":5}]}"#, "attachments[0].url"),
        (#"{"text":"x","attachments":[{"type":["link"],"url":"http://x"}]}"#, "attachments[0].type"),
        (#"{"text":"x","attachments":[{"type":"link","url":"http://x","width":"3"}]}"#, "attachments[0].width"),
        (#"{"text":"x","attachments":[{"type":"link","url":"http://x","height":1.5}]}"#, "attachments[0].height"),
        (#"{"text":"x","attachments":[{"type":"link","url":"http://x","size":1e30}]}"#, "attachments[0].size"),
        (#"{"text":"x","reply_to":"1"}"#, "reply_to"), (#"{"text":"x","reply_to":1.5}"#, "reply_to"),
        (#"{"text":"x","reply_to":9223372036854775808}"#, "reply_to"), (#"{"text":"x","reply_to":1e400}"#, "reply_to"),
        (#"{"text":"x","mentions":"bob"}"#, "mentions"), (#"{"text":"x","mentions":["bob",null]}"#, "mentions[1]"),
        (#"{"text":"x","mentions":[7]}"#, "mentions[0]"), (#"{"text":"x","mentions":["a b"]}"#, "mentions[0]"),
        (#"{"text":"x","mentions":[""]}"#, "mentions[0]"), (#"{"text":"x","mentions":["~deleted"]}"#, "mentions[0]"),
        (#"{"text":"x","mentions_room":"true"}"#, "mentions_room"), (#"{"text":"x","silent":1}"#, "silent"),
        (#"{"text":"x","data":[]}"#, "data"), (#"{"text":"x","data":"{}"}"#, "data"),
        (#"{"text":"x","data":5}"#, "data"), (#"{"text":"\u0000","reply_to":-1,"data":1}"#, "data"),
    ])
    func `a wrong type is reported with its field, before values that are not allowed`(body: String, field: String) {
        let fault = problem { () throws(Problem) in try Draft.decode(body) }
        #expect(fault?.status == 400)
        #expect(fault?.code == .invalidField)
        #expect(fault?.field == field)
    }

    @Test(
        arguments: [
            ("{}", .emptyMessage, "text"), (#"{"text":""}"#, .emptyMessage, "text"),
            (#"{"text":null,"attachments":[]}"#, .emptyMessage, "text"),
            (#"{"data":{"a":1}}"#, .emptyMessage, "text"), (#"{"client_message_id":"x"}"#, .emptyMessage, "text"),
            (#"{"text":" "}"#, .emptyMessage, "text"), (#"{"text":"\t\r\n\u0085\u00a0\u3000"}"#, .emptyMessage, "text"),
            (#"{"text":"\u200b\u200d\ufeff\u2060\u00ad"}"#, .emptyMessage, "text"),
            (#"{"text":"\u3164\u115f\uffa0\u2800\u180e"}"#, .emptyMessage, "text"),
            (#"{"text":"\u202e\u2066\u0001\ufe0f\udb40\udc41","data":{"a":1}}"#, .emptyMessage, "text"),
            (#"{"text":"a\u0000b"}"#, .nulCharacter, "text"),
            (#"{"text":"x","client_message_id":"\u0000"}"#, .nulCharacter, "client_message_id"),
            (#"{"text":"x","data":{"a":["\u0000"]}}"#, .nulCharacter, "data"),
            (#"{"text":"x","data":{"a":{"\u0000":1}}}"#, .nulCharacter, "data"),
            (#"{"text":"x","client_message_id":""}"#, .emptyField, "client_message_id"),
            (#"{"text":"x","reply_to":0}"#, .replyToNotFound, "reply_to"),
            (#"{"text":"x","reply_to":-0}"#, .replyToNotFound, "reply_to"),
            (#"{"text":"x","reply_to":-5}"#, .replyToNotFound, "reply_to"),
        ] as [(String, Problem.Code, String)])
    func `a value that is not allowed is refused with a reason`(body: String, code: Problem.Code, field: String) {
        let fault = problem { () throws(Problem) in try Draft.decode(body) }
        #expect(fault?.status == 422)
        #expect(fault?.code == code)
        #expect(fault?.field == field)
    }

    @Test(arguments: ["\u{300}", "\u{FFFC}", "\u{10FFFE}", "\u{E000}", " .", "\u{200B}x", "\u{600}", "\u{1F3FB}"])
    func `a text that shows something may be short`(text: String) throws {
        #expect(try Draft.decode(#"{"text":"\#(text)"}"#).content.text.hasSameBytes(as: text))
    }

    @Test func `a blank text may stand beside an attachment`() throws {
        let body = #"{"text":" ","attachments":[{"type":"link","url":"http://x"}]}"#
        #expect(try Draft.decode(body).content.text == " ")
    }

    @Test(arguments: [".", ".."])
    func `a client message id must be able to stand in a path`(id: String) throws {
        let fault = problem { () throws(Problem) in try Draft.decode(#"{"text":"x","client_message_id":"\#(id)"}"#) }
        #expect(fault == .dotSegment("client_message_id"))
        #expect(fault?.status == 400 && fault?.field == "client_message_id")
        #expect(try Draft.decode(#"{"text":"x","client_message_id":"\#(id)a"}"#).clientMessageID == id + "a")
    }

    @Test(arguments: ["5", "5.0", "5e0", "50E-1"])
    func `reply_to is an integer in any notation`(number: String) throws {
        #expect(try Draft.decode(#"{"text":"x","reply_to":\#(number)}"#).content.replyTo == 5)
    }

    @Test func `an unknown field may have any JSON value`() throws {
        let nested = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        #expect(try Draft.decode(#"{"a":\#(nested),"text":"x","b":"\u0000"}"#).content.text == "x")
    }

    @Test(arguments: ["x", "\\u0078", "\u{E9}", "\\u00e9", "😀", "\\ud83d\\ude00", "\\u0022"])
    func `the length of a text is counted in bytes of UTF-8, however it is escaped`(character: String) throws {
        let size = try Draft.decode("{\"text\":\"\(character)\"}").content.text.utf8.count
        let count = Limits.textBytes / size
        let longest = String(repeating: character, count: count)
        #expect(try Draft.decode("{\"text\":\"\(longest)\"}").content.text.utf8.count == Limits.textBytes)
        let fault = problem { () throws(Problem) in try Draft.decode("{\"text\":\"\(longest)y\"}") }
        #expect(fault == .tooLong("text", limit: Limits.textBytes))
    }

    @Test func `a client message id has 1 to 128 bytes`() throws {
        func body(_ count: Int) -> String {
            #"{"text":"x","client_message_id":"\#(String(repeating: "é", count: count))"}"#
        }
        #expect(try Draft.decode(body(1)).clientMessageID == "é")
        #expect(try Draft.decode(body(64)).clientMessageID?.utf8.count == 128)
        let fault = problem { () throws(Problem) in try Draft.decode(body(65)) }
        #expect(fault == .tooLong("client_message_id", limit: 128))
    }

    @Test func `data is measured as compact JSON`() throws {
        func body(_ count: Int) -> String {
            // {"k":"…"} has 8 bytes besides.
            #"{"text":"x","data": { "\u006b" : "\#(String(repeating: "\\u0079", count: count - 8))" } }"#
        }
        #expect(try Draft.decode(body(Limits.dataBytes)).content.data.count == Limits.dataBytes)
        let fault = problem { () throws(Problem) in try Draft.decode(body(Limits.dataBytes + 1)) }
        #expect(fault == .tooLong("data", limit: Limits.dataBytes))
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func `data is nested at most 64 levels deep`(opening: String, closing: String) throws {
        func body(_ depth: Int) -> String {
            let inside =
                String(repeating: opening, count: depth - 1) + "1" + String(repeating: closing, count: depth - 1)
            return #"{"text":"x","data":{"d":\#(inside)}}"#
        }
        #expect(try !Draft.decode(body(64)).content.data.isEmpty)
        for depth in [65, 200, 1000] {
            let fault = problem { () throws(Problem) in try Draft.decode(body(depth)) }
            #expect(fault == .tooDeep("data", limit: 64))
        }
    }

    @Test(arguments: ["1e400", "-0", "1.10", "1E+2", "123456789012345678901234567890", "0.1e-9999999999999999999999"])
    func `numbers in data are kept as written`(number: String) throws {
        let draft = try Draft.decode(#"{"text":"x","data":{"n": \#(number) }}"#)
        #expect(String(decoding: draft.content.data, as: UTF8.self) == #"{"n":\#(number)}"#)
    }
}
