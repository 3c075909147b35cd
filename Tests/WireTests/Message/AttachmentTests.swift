import Testing
import Wire

@Suite struct AttachmentTests {
    private func decode(_ attachments: String) throws(Problem) -> [Attachment] {
        try Draft.decode(#"{"attachments":[\#(attachments)]}"#).content.attachments
    }

    private static let full = """
        {"type":"video","url":"https://x.test/v.mp4","width":1920,"height":1080,"mime":"video/mp4","size":123456789,\
        "title":"A \\"title\\"","description":"What is seen","thumbhash":"1QcSHQRnh493V4dIh4eXh1h4kJUI"}
        """

    @Test func `all fields survive encoding and decoding`() throws {
        let attachment = try #require(try decode(Self.full).first)
        #expect(
            attachment
                == Attachment(
                    kind: .video, url: "https://x.test/v.mp4", width: 1920, height: 1080, mime: "video/mp4",
                    size: 123_456_789, title: "A \"title\"", description: "What is seen",
                    thumbhash: "1QcSHQRnh493V4dIh4eXh1h4kJUI"))
        #expect(written(attachment.encode) == Self.full)
    }

    @Test func `absent, null and empty fields are left out`() throws {
        let text = #"{"type":"file","url":"http://x","mime":null,"title":"","width":null,"size":0,"x":1}"#
        let attachment = try #require(try decode(text).first)
        #expect(attachment == Attachment(kind: .file, url: "http://x", size: 0))
        #expect(written(attachment.encode) == #"{"type":"file","url":"http://x","size":0}"#)
    }

    @Test(arguments: Attachment.Kind.allCases)
    func `images and videos need a positive width and height`(kind: Attachment.Kind) throws {
        func fault(_ fields: String) -> Problem? {
            problem { () throws(Problem) in try decode(#"{"type":"\#(kind.rawValue)","url":"http://x"\#(fields)}"#) }
        }
        #expect(fault(#","width":1,"height":1"#) == nil)
        guard kind == .image || kind == .video else {
            #expect(fault("") == nil)
            for value in [0, -1] {
                #expect(fault(#","width":\#(value)"#)?.code == .invalidAttachment)
                #expect(fault(#","height":\#(value)"#)?.field == "attachments[0].height")
            }
            return
        }
        for (fields, field) in [
            ("", "width"), (#","width":5"#, "height"), (#","height":5"#, "width"), (#","width":0,"height":5"#, "width"),
            (#","width":5,"height":-1"#, "height"), (#","width":null,"height":1"#, "width"),
        ] {
            #expect(fault(fields) == .sizeMissing("attachments[0].\(field)"))
            #expect(fault(fields)?.status == 422)
        }
    }

    @Test(arguments: [
        (#"{}"#, "type"), (#"{"url":"http://x"}"#, "type"), (#"{"type":null,"url":"http://x"}"#, "type"),
        (#"{"type":"","url":"http://x"}"#, "type"), (#"{"type":"gif","url":"http://x"}"#, "type"),
        (#"{"type":"Image","url":"http://x"}"#, "type"), (#"{"type":"file"}"#, "url"),
        (#"{"type":"file","url":null}"#, "url"), (#"{"type":"file","url":""}"#, "url"),
        (#"{"type":"file","url":"http://x","size":-1}"#, "size"),
    ])
    func `type and url are required, and a size must not be negative`(attachment: String, field: String) {
        let fault = problem { () throws(Problem) in try decode(#"{"type":"link","url":"http://ok"},"# + attachment) }
        #expect(fault?.status == 422)
        #expect(fault?.code == .invalidAttachment)
        #expect(fault?.field == "attachments[1].\(field)")
    }

    @Test(arguments: [
        "http://x", "https://x.test:8080/a?b#c", "HTTPS://X", "http://é.test/ü", "http://[::1]/",
        "http://[2001:db8::1]:443/a", "http://[::ffff:1.2.3.4]", "http://x:/", "http://x:0", "http://x:65535",
        "http://x:000080", "http://a@b", "http://a:b@c:1/", "http://a@b@c", "http://%61.test", "http://x/%zz",

        "http://x?a:99999", "http://127.0.0.1", "http://127.1", "http://0x7f.0.0.1", "http://4294967295",
        "http://a_b.test",
        "http://x.", "http://1.2.3.4.", "http://1a", "http://❤.test", "http://क्‍ष.test", "http://a.b1",
    ])
    func `an http or https URL is accepted`(url: String) throws {
        #expect(try decode(#"{"type":"link","url":"\#(url)"}"#).first?.url == url)
    }

    @Test(arguments: [
        "x", "/a", "//x/a", "ftp://x", "javascript:alert(1)", "data:text/plain,x", "http:x", "http:/x", "http://",
        "https:///x", "http://?x", "http://#x", " http://x", "http://x y", "http://x\\n", "http://x\\u007f",
        "httpx://x", "http", "https://[::1", "https://[::1]x", "https://[]", "https://[1.2.3.4]", "https://[::g]",
        "https://[fe80::1%25eth0]", "https://::1/", "https://x:99999", "https://x:65536", "https://x:-1",
        "https://x:1a",
        "https://:80", "https://a@", "https://a@:80", "https://@/", "https://%zz/", "https://%", "https://%4",
        "https://%00",
        "https://%2f", "https://%ff", "https://a%20b", "https://a\\\\b/", "https://\\\\a", "https://a\\\\@b",
        "https://a<b",
        "https://a|b",
        "https://a^b", "https://a[b", "https://256.1.1.1", "https://1.2.3.4.5", "https://1.2.3.256", "https://a.1",
        "https://4294967296", "https://09", "https://a.0x1", "https://a\\u00adb", "https://\\u202ea",
        "http://x/\\u202egpj.exe", "http://x/?a=\\u2066b", "http://x/\\u200b", "http://x/\\u0085",
        "http://x/\\u2028",
        "https://a\\u3000b", "https://\\ue000",
    ])
    func `any other URL is refused`(url: String) {
        let fault = problem { () throws(Problem) in try decode(#"{"type":"link","url":"\#(url)"}"#) }
        #expect(fault?.code == .invalidAttachment)
        #expect(fault?.field == "attachments[0].url")
    }

    @Test func `a backslash may stand after the host`() throws {
        #expect(try decode(#"{"type":"link","url":"http://x/a\\b"}"#).first?.url == #"http://x/a\b"#)
    }

    @Test(arguments: ["url", "mime", "title", "description", "thumbhash"])
    func `strings have at most 2 KiB`(field: String) throws {
        func attachment(_ count: Int) -> String {
            let start = field == "url" ? "http://x/" : ""
            let string = start + String(repeating: "y", count: count - start.utf8.count)
            let url = field == "url" ? "" : #","url":"http://x""#
            return #"{"type":"file"\#(url),"\#(field)":"\#(string)"}"#
        }
        #expect(try decode(attachment(Limits.attachmentStringBytes)).count == 1)
        let fault = problem { () throws(Problem) in try decode(attachment(Limits.attachmentStringBytes + 1)) }
        #expect(fault == .tooLong("attachments[0].\(field)", limit: Limits.attachmentStringBytes))
    }

    @Test(arguments: ["type", "url", "mime", "title", "description", "thumbhash"])
    func `strings must not contain U+0000`(field: String) {
        let others = field == "url" ? "" : #","url":"http://x""#
        let fault = problem { () throws(Problem) in
            try decode(#"{"\#(field)":"http://x\u0000"\#(others)\#(field == "type" ? "" : #","type":"file""#)}"#)
        }
        #expect(fault == .nulCharacter("attachments[0].\(field)"))
    }

    @Test func `a message has at most 10 attachments`() throws {
        func list(_ count: Int) -> String {
            Array(repeating: #"{"type":"link","url":"http://x"}"#, count: count).joined(separator: ",")
        }
        #expect(try decode(list(10)).count == 10)
        let fault = problem { () throws(Problem) in try decode(list(11)) }
        #expect(fault == .tooMany("attachments", limit: 10))
    }

    @Test func `strings are compared by code point`() {
        let composed = Attachment(kind: .file, url: "http://x", title: "\u{E9}")
        #expect(composed == composed)
        #expect(composed != Attachment(kind: .file, url: "http://x", title: "e\u{301}"))
        #expect(composed != Attachment(kind: .file, url: "http://x"))
        #expect(composed != Attachment(kind: .link, url: "http://x", title: "\u{E9}"))
        #expect(composed != Attachment(kind: .file, url: "http://x", size: 1, title: "\u{E9}"))
    }
}
