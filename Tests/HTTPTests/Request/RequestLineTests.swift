import HTTPTypes
import Testing

@testable import HTTP

@Suite("Request line, RFC 9112, section 3")
struct RequestLineTests {
    @Test func `A request line gives method, path and version`() throws {
        let request = try #require(onlyRequest(in: "GET /v1/rooms/5?limit=3 HTTP/1.1\r\nHost: a\r\n\r\n"))
        #expect(request.head.method == .get)
        #expect(request.head.path == "/v1/rooms/5?limit=3")
        #expect(request.head.authority == "a")
        #expect(request.minorVersion == 1)
        #expect(request.body.isEmpty)
    }

    @Test(arguments: [
        "GET", "PUT", "POST", "HEAD", "PATCH", "DELETE", "OPTIONS", "TRACE", "get", "BREW", "!#$%&'*+-.^_`|~9",
    ])
    func `Any token is a method, and methods are case-sensitive`(name: String) {
        #expect(onlyRequest(in: "\(name) / HTTP/1.1\r\nHost: a\r\n\r\n")?.head.method.rawValue == name)
    }

    @Test(arguments: [
        " GET / HTTP/1.1", "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET / HTTP/1.1 ", "GET\t/ HTTP/1.1",
        "GET /", "GET", "GET ", "GET / ", "GET /a b HTTP/1.1", "G(T / HTTP/1.1", "GET: / HTTP/1.1",
        "GET / http/1.1", "GET / HTTP/1", "GET / HTTP/1.10", "GET / HTTP/11", "GET / HTTP/01.1", "GET / HTTP /1.1",
        "GET / HTTP/a.b", "GET / XTTP/1.1", "GET / HTTP/1,1", "GET /\u{0} HTTP/1.1", "GET /\u{7F} HTTP/1.1",
        "GET /\u{B} HTTP/1.1", "GET /é HTTP/1.1",
    ])
    func `A line that is not three parts with single spaces is refused`(line: String) {
        #expect(refusal(line + "\r\nHost: a\r\n\r\n") == "400 request_line_invalid")
    }

    @Test(arguments: ["HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "HTTP/3.0", "HTTP/9.9"])
    func `Another version of HTTP gets 505`(version: String) {
        #expect(refusal("GET / \(version)\r\nHost: a\r\n\r\n") == "505 version_unsupported")
    }

    @Test func `HTTP/1.0 is accepted, also without Host`() throws {
        let request = try #require(onlyRequest(in: "GET / HTTP/1.0\r\n\r\n"))
        #expect(request.minorVersion == 0)
        #expect(request.head.authority == nil)
        #expect(!request.keepAlive)
    }

    @Test func `The HTTP/2 preface is refused at its first line`() {
        #expect(refusal("PRI * HTTP/2.0\r\n") == "505 version_unsupported")
        #expect(refusal("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == "505 version_unsupported")
    }

    @Test func `The first bytes of a TLS connection are refused at once`() {
        #expect(feed([[0x16]]).refusal?.code == "request_line_invalid")
        #expect(feed([[0x16, 0x03, 0x01, 0x02, 0x00, 0x01]]).refusal?.status == .badRequest)
        #expect(feed([[0x80, 0x2E]]).refusal?.code == "request_line_invalid")
    }

    @Test(arguments: [
        "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\n\r\n", "GET / HTTP/1.1\rHost: a\r\r",
        "GET / HTTP/1.1\r\nHost: a\r\rX: y\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\n", "GET / HTTP/1.1\r\nHost: a\r\n\rX", "\nGET / HTTP/1.1\r\n",
        "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", "\rGET / HTTP/1.1\r\n",
    ])
    func `Only CR LF ends a line`(text: String) {
        #expect(refusal(text) == "400 line_end_invalid")
    }

    @Test func `One empty line before a request is skipped, also between requests; a second one is refused`() {
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(feed("\r\n" + get).requests.count == 1)
        #expect(feed("\r\n" + get + "\r\n" + get).requests.count == 2)
        #expect(refusal("\r\n\r\n" + get) == "400 too_many_empty_lines")
        #expect(refusal(get + "\r\n\r\n" + get) == "400 too_many_empty_lines")
        #expect(refusal(" \r\n" + get) == "400 request_line_invalid")
    }
}
