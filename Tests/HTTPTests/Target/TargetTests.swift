import TestSupport
import Testing

@testable import HTTP

@Suite("Path and query, RFC 3986, sections 3.3 and 3.4")
struct TargetTests {
    @Test(arguments: [
        ("/", [""]), ("/a", ["a"]), ("/a/", ["a", ""]), ("//", ["", ""]), ("/v1/rooms/5", ["v1", "rooms", "5"]),
        ("/a?b/c", ["a"]), ("/a%20b/%E2%9D%A4%EF%B8%8F", ["a b", "❤️"]), ("/a%2Fb/c", ["a/b", "c"]),
        ("/a+b", ["a+b"]), ("/%2e%2E/..", ["..", ".."]), ("/a%3Fb%23", ["a?b#"]), ("/%25zz", ["%zz"]), ("*", []),
        ("", []),
    ])
    func `A path becomes its decoded segments`(text: String, expected: [String]) throws {
        #expect(try Target(text).segments() == expected)
    }

    @Test func `Text without escapes is the same decoded`() throws {
        var random = SeededGenerator(seed: 11)
        let letters = Array("abcdefgh/&=?-._~".utf8)
        for _ in 0..<2000 {
            let plain =
                "/"
                + String(
                    decoding: (0..<Int.random(in: 0...40, using: &random)).map { _ in
                        letters.randomElement(using: &random)!
                    }, as: UTF8.self)
            // An escape at the end of the query causes all of it to be decoded, and adds a pair with a unique name.
            let encoded = plain + (plain.contains("?") ? "&" : "?") + "%7A"
            #expect(try Target(plain).segments() == Target(encoded).segments())
            #expect(try Target(plain).parameters().all == Target(encoded).parameters().all.dropLast())
        }
    }

    @Test(arguments: [
        "%", "%2", "%zz", "%2x", "%x2", "a%", "%00", "a%00b", "%FF", "%C3", "%C3%28", "%ED%A0%80",
        "%F8%88%80%80%80", "%c0%af", "% 0", "%+2",
    ])
    func `Incomplete escapes, NUL and invalid UTF-8 are refused`(text: String) {
        #expect(throws: RequestRefusal.targetEncodingInvalid) { try Target("/a/\(text)").segments() }
        #expect(throws: RequestRefusal.targetEncodingInvalid) { try Target("/?a=\(text)").parameters() }
        #expect(throws: RequestRefusal.targetEncodingInvalid) { try Target("/?\(text)=a").parameters() }
    }

    @Test func `Parts that are not read are not refused`() throws {
        let target = Target("/a?b=%zz")
        #expect(try target.segments() == ["a"])
        #expect(target.path == "/a")
    }

    @Test func `A query becomes decoded pairs, in which a plus is a space`() throws {
        let parameters = try Target("/?user=a+b%2B&limit=30&&empty=&flag&=x&e%3D=1=2&user=c").parameters()
        #expect(parameters["user"] == "a b+")
        #expect(parameters["limit"] == "30")
        #expect(parameters["empty"] == "")
        #expect(parameters["flag"] == "")
        #expect(parameters[""] == "x")
        #expect(parameters["e="] == "1=2")
        #expect(parameters["User"] == nil)
        #expect(parameters.all.count == 7)
        #expect(parameters.all.last?.value == "c")
    }

    @Test func `A repeated name is detected`() throws {
        let parameters = try Target("/?limit=1&limit=1&a=2").parameters()
        #expect(parameters.isRepeated("limit"))
        #expect(!parameters.isRepeated("a"))
        #expect(!parameters.isRepeated("b"))
        #expect(try Target("/").parameters().all.isEmpty)
        #expect(try Target("/?").parameters().all.isEmpty)
    }
}
