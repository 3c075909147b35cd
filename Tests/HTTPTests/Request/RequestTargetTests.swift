import HTTPTypes
import Testing

@testable import HTTP

@Suite("Request target, RFC 9112, section 3.2")
struct RequestTargetTests {
    @Test func `An absolute-form target is split, and its authority replaces Host`() throws {
        let text = "GET http://b.example:81/x?y=1 HTTP/1.1\r\nHost: a\r\n\r\n"
        let request = try #require(onlyRequest(in: text))
        #expect(request.head.path == "/x?y=1")
        #expect(request.head.authority == "b.example:81")
    }

    @Test(arguments: [("http://h", "/"), ("https://h?q", "/?q"), ("HTTP://h/", "/"), ("hTTps://h/a", "/a")])
    func `An absolute-form target without a path has the path /`(target: String, path: String) {
        #expect(onlyRequest(in: "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")?.head.path == path)
    }

    @Test func `An absolute-form target does not make Host optional`() {
        #expect(refusal("GET http://h/ HTTP/1.1\r\n\r\n") == "400 host_missing")
    }

    @Test func `OPTIONS may address the server as a whole`() {
        #expect(onlyRequest(in: "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")?.head.path == "*")
        #expect(onlyRequest(in: "OPTIONS http://h HTTP/1.1\r\nHost: a\r\n\r\n")?.head.path == "*")
        #expect(onlyRequest(in: "OPTIONS /x HTTP/1.1\r\nHost: a\r\n\r\n")?.head.path == "/x")
    }

    @Test func `CONNECT has an authority and no path, and the connection ends after it`() throws {
        let request = try #require(onlyRequest(in: "CONNECT b:443 HTTP/1.1\r\nHost: a\r\n\r\n"))
        #expect(request.head.path == nil)
        #expect(request.head.authority == "b:443")
        #expect(!request.keepAlive)
    }

    @Test(arguments: [
        "GET *", "GET x", "GET example.com:80", "GET ftp://h/", "GET http:/h/", "GET http:///x", "GET http://",
        "GET http://u@h/", "GET http://u:p@h/", "GET http://h:x/", "GET http://[::1/", "GET /#f", "GET /a#",
        "GET http://h/#f", "POST *", "OPTIONS x", "OPTIONS **", "CONNECT /", "CONNECT *", "CONNECT b",
        "CONNECT b:", "CONNECT http://b:1/", "CONNECT b:1/", "get http:h", "GET ?a", "GET http://h\\x/",
    ])
    func `Other targets are refused`(line: String) {
        #expect(refusal(line + " HTTP/1.1\r\nHost: a\r\n\r\n") == "400 target_invalid")
    }

    @Test(arguments: ["/?a={x}|[y]^`", "/a//b/./..", "/%zz", "/a;b=c,d:@!$&'()*+"])
    func `Characters that browsers do not escape are accepted`(path: String) {
        #expect(onlyRequest(in: "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")?.head.path == path)
    }
}

@Suite("Authority, RFC 9110, section 7.2")
struct AuthorityTests {
    @Test(arguments: [
        "a", "example.com", "EXAMPLE.com:8080", "127.0.0.1:8080", "h:", "h:0", "h:65535", "a_b.c~d", "%41.b",
        "[::1]", "[::1]:80", "[2001:db8::8:800:200C:417A]", "[1:2:3:4:5:6:7:8]", "[::ffff:192.168.0.1]:1", "[::]",
        "[1::]", "[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:1.2.3.4]", String(repeating: "a", count: 255),
    ])
    func `A host is a name or an address, with an optional port`(host: String) {
        #expect(onlyRequest(in: "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n")?.head.authority == host)
    }

    @Test(arguments: [
        "", ":80", "a b", "a,b", "a, b", "u@h", "a/b", "a?b", "a#b", "h:80:90", "h:x", "h:-1", "h:65536", "h: 80",
        "h:99999999999999999999", "[::1", "::1", "[]", "[:::]", "[1]", "[1:2]", "[1:2:3:4:5:6:7:8:9]", "[::1]x",
        "[g::]", "[1::2::3]", "[12345::]", "[::1.2.3]", "[::1.2.3.256]", "[::01.2.3.4]", "[::1.2.3.4.5]", "[1:]",
        "[:1]", "[::1%25eth0]", "[v1.x]", "[1:2:3:4:5:6:7:8::]", "%4", "%zz", "a\\b", "a<b", "é", "a\"b", "a;b",
        "[::1.2.3.]", "[1:2:3:4:5:6:7:1.2.3.4]", String(repeating: "a", count: 256),
    ])
    func `Anything else is refused`(host: String) {
        #expect(refusal("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n") == "400 host_invalid")
    }

    @Test func `HTTP/1.1 needs exactly one Host`() {
        #expect(refusal("GET / HTTP/1.1\r\n\r\n") == "400 host_missing")
        #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n") == "400 host_repeated")
        #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n") == "400 host_repeated")
        #expect(refusal("GET / HTTP/1.0\r\nHost: a b\r\n\r\n") == "400 host_invalid")
    }
}
