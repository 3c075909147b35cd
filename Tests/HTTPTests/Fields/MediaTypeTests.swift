import HTTPTypes
import Testing

@testable import HTTP

@Suite("Media types, RFC 9110, section 8.3")
struct MediaTypeTests {
    @Test func `A media type has a type, a subtype and optionally a charset`() throws {
        let type = try #require(MediaType("Text/HTML ; Charset=\"utf\\-8\"; x=y"))
        #expect(type.type == "text")
        #expect(type.subtype == "html")
        #expect(type.charset == "utf-8")
        #expect(MediaType("application/json")?.charset == nil)
    }

    @Test(arguments: [
        "", "json", "/json", "application/", "a/b/c", "a b/c", "a/b; charset", "a/b; charset=\"x",
        "a/b; charset=\"x\"y", "a/b; c d=e", "a/b, c/d", "a/b; charset=x; charset=y",
    ])
    func `Other text is not a media type`(text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test(arguments: [
        nil, "", "application/json", "APPLICATION/JSON", "application/json; charset=utf-8",
        "application/json;charset=UTF8",
        "application/json; charset=\"utf-8\"", "application/json; charset=us-ascii", "application/merge-patch+json",
        "application/vnd.x+json; v=1", "application/x-www-form-urlencoded",
        "application/octet-stream", "text/json", "application/json;", "application/json ; ",
    ])
    func `JSON types and the default types of clients are compatible with JSON`(text: String?) {
        #expect(!MediaType.contradictsJSON(contentType: text))
    }

    @Test(arguments: [
        "multipart/form-data; boundary=x", "text/html", "image/png", "application/xml",
        "application/json; charset=utf-16",
        "application/json; charset=iso-8859-1", "text/plain; charset=latin1", "text/plain",
        "text/plain;charset=UTF-8", "application/x-ndjson",
        "application/jsonx",
        "nonsense", "application/json, text/html", "audio/json", "application/json; charset=",
    ])
    func `Other types and charsets are not compatible with JSON`(text: String) {
        #expect(MediaType.contradictsJSON(contentType: text))
    }
}

@Suite("Lists and Accept, RFC 9110, sections 5.6.1 and 12.5.1")
struct ListTests {
    @Test(arguments: [
        ("a", ["a"]), ("a,b", ["a", "b"]), (" a ,\tb\t, ,,c d", ["a", "b", "c d"]), ("", []), (",", []),
        (" , ", []),
        ("a;x=\"1,2\", b", ["a;x=\"1,2\"", "b"]), ("\"a\\\",b\",c", ["\"a\\\",b\"", "c"]), ("\"a,b", ["\"a,b"]),
        ("\"a\\", ["\"a\\"]), ("é,❤️", ["é", "❤️"]),
    ])
    func `A list is its elements`(text: String, expected: [String]) {
        #expect(ListElements(text).map(String.init) == expected)
    }

    @Test func `A list may span several lines, and its tokens are case-insensitive`() throws {
        let fields = try #require(onlyRequest(in: head("Upgrade: a, WebSocket", "X: b", "Upgrade: c"))).head
            .headerFields
        #expect(fields.elements(of: .upgrade) == ["a", "WebSocket", "c"])
        #expect(fields.lists("websocket", in: .upgrade))
        #expect(fields.lists("c", in: .upgrade))
        #expect(!fields.lists("b", in: .upgrade))
        #expect(!fields.lists("web", in: .upgrade))
        #expect(!fields.lists("a", in: .connection))
    }

    @Test(arguments: [
        ("text/event-stream", true), ("TEXT/Event-Stream", true), ("text/event-stream, */*", true),
        ("application/json, text/event-stream", true), ("text/event-stream;q=0.5, application/json;q=0.4", true),
        ("text/event-stream;q=0.5, application/json", false), ("text/event-stream;q=0", false),
        ("text/event-stream;q=0.001", true), ("text/event-stream;q=0.000", false),
        ("text/event-stream;x=y;Q=0", false),
        ("*/*", false), ("text/*", false), ("application/json", false), ("", false), ("text/event-streams", false),
        ("text/event-stream;q=x", false), ("text/event-stream;q=2", false), ("text/event-stream;q=0.1234", false),
        ("text/event-stream;q=1.000", true), ("text/event-stream;q", false),
        ("text/event-stream;charset=utf-8", true),
    ])
    func `Events are sent to clients that accept them by name`(accept: String, expected: Bool) throws {
        let fields = try #require(onlyRequest(in: head("Accept: \(accept)"))).head.headerFields
        #expect(Accept.prefersEventStream(fields) == expected)
    }

    @Test func `Without Accept nothing is preferred, and several lines are combined`() throws {
        #expect(!Accept.prefersEventStream(HeaderFields()))
        let fields = try #require(onlyRequest(in: head("Accept: a/b", "Accept: text/event-stream"))).head.headerFields
        #expect(Accept.prefersEventStream(fields))
    }
}
