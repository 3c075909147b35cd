import HTTPTypes
import Testing

@testable import HTTP

@Suite("Connection, RFC 9112, section 9")
struct ConnectionTests {
    @Test(
        arguments: [
            ("1.1", nil, true), ("1.1", "close", false), ("1.1", "Close", false), ("1.1", "keep-alive", true),
            ("1.1", "x, CLOSE ,y", false), ("1.1", "closed", true), ("1.1", "x,,", true),
            ("1.1", "upgrade, close", false),
            ("1.0", nil, false), ("1.0", "keep-alive", true), ("1.0", "Keep-Alive", true), ("1.0", "close", false),
            ("1.0", "keep-alive, close", false), ("1.0", "x", false),
        ] as [(String, String?, Bool)])
    func `HTTP/1.1 persists without close, and HTTP/1.0 closes without keep-alive`(
        version: String, connection: String?, persists: Bool
    ) throws {
        let line = connection.map { "Connection: \($0)\r\n" } ?? ""
        let request = try #require(onlyRequest(in: "GET / HTTP/\(version)\r\nHost: h\r\n\(line)\r\n"))
        #expect(request.keepAlive == persists)
        #expect(request.replyContext.keepAlive == persists)
    }

    @Test func `Options of several lines are combined`() throws {
        #expect(try #require(onlyRequest(in: head("Connection: x", "Connection: close"))).keepAlive == false)
    }

    @Test func `Nothing is read after a request that closes the connection`() throws {
        var parser = RequestParser()
        let outcome = feed([Array((head("Connection: close") + head()).utf8)], to: &parser)
        #expect(outcome.requests.count == 1)
        #expect(parser.buffer.count == 0)
        #expect(feed([Array(head().utf8)], to: &parser).requests.isEmpty)
        #expect(parser.buffer.count == 0)
    }

    @Test func `The bytes after an upgrade are handed over, and nothing more is parsed`() throws {
        var parser = RequestParser()
        parser.append(Array((head("Connection: Upgrade", "Upgrade: websocket") + "frames").utf8).span)
        guard case .request = try parser.next() else {
            Issue.record("no request")
            return
        }
        parser.append(Array(" and more".utf8).span)
        #expect(parser.buffer.count == 15)
        #expect(String(decoding: parser.takeRemainder(), as: UTF8.self) == "frames and more")
        #expect(parser.takeRemainder().isEmpty)
        #expect(feed([Array(head().utf8)], to: &parser).requests.isEmpty)
    }

    @Test func `The phase selects the deadline`() {
        var parser = RequestParser()
        func phase(after text: String) -> RequestParser.Phase {
            _ = feed([Array(text.utf8)], to: &parser)
            return parser.phase
        }
        #expect(parser.phase == .idle)
        #expect(phase(after: "\r\n") == .idle)
        #expect(phase(after: "P") == .head)
        #expect(phase(after: "OST / HTTP/1.1\r\n") == .head)
        #expect(phase(after: "Host: h\r\nContent-Length: 2\r\n\r\n") == .body)
        #expect(phase(after: "x") == .body)
        #expect(phase(after: "x") == .idle)
        #expect(phase(after: "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n") == .body)
        #expect(phase(after: "1\r\nx\r\n0\r\n") == .body)
        #expect(phase(after: "\r\nGET") == .head)
        #expect(phase(after: "\u{0}") == .idle)
    }

    @Test func `After a refusal the parser repeats it and keeps no bytes`() {
        var parser = RequestParser()
        let first = feed([Array("GET / HTTP/1.1\nHost: h\r\n\r\n".utf8)], to: &parser)
        let second = feed([Array(head().utf8)], to: &parser)
        #expect(first.refusal?.code == "line_end_invalid")
        #expect(second.refusal == first.refusal)
        #expect(second.requests.isEmpty)
        #expect(parser.buffer.count == 0)
    }

    @Test func `Valid requests are delivered before the refusal of a later one`() {
        let outcome = feed(head() + head() + "BAD\r\n")
        #expect(outcome.requests.count == 2)
        #expect(outcome.refusal?.code == "request_line_invalid")
    }
}

@Suite("Expect, RFC 9110, section 10.1.1")
struct ExpectTests {
    private let start = "POST / HTTP/1.1\r\nHost: h\r\n"

    @Test(arguments: ["Content-Length: 5", "Transfer-Encoding: chunked"])
    func `A waiting client gets 100 Continue once`(length: String) {
        let head = Array("\(start)Expect: 100-Continue\r\n\(length)\r\n\r\n".utf8)
        let body = Array((length.hasPrefix("C") ? "hello" : "5\r\nhello\r\n0\r\n\r\n").utf8)
        let outcome = feed([head] + body.map { [$0] })
        #expect(outcome.continues == 1)
        #expect(outcome.requests.map(\.body) == ["hello"])
        #expect(drip(head + body).continues == 1)
        #expect(feed([head + body.prefix(1), Array(body.dropFirst())]).continues == 0)
        #expect(feed([head + body]).continues == 0)
    }

    @Test func `Without a body, and in HTTP/1.0, there is nothing to wait for`() {
        #expect(drip(Array("\(start)Expect: 100-continue\r\n\r\n".utf8)).continues == 0)
        let old = "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx"
        #expect(drip(Array(old.utf8)).continues == 0)
        #expect(drip(Array(old.utf8)).requests.count == 1)
    }

    @Test func `A body that is too large gets no 100 Continue`() {
        #expect(drip(Array("\(start)Expect: 100-continue\r\nContent-Length: 262145\r\n\r\n".utf8)).continues == 0)
    }

    @Test(arguments: ["200-ok", "", "100-continue, x", "100", "100-continue;q=1"])
    func `Another expectation gets 417`(value: String) {
        #expect(refusal("\(start)Expect: \(value)\r\n\r\n") == "417 expectation_unknown")
        #expect(refusal("\(start)Expect: 100-continue\r\nExpect: \(value)\r\n\r\n") == "417 expectation_unknown")
        #expect(onlyRequest(in: "GET / HTTP/1.0\r\nExpect: \(value)\r\n\r\n") != nil)
    }
}
