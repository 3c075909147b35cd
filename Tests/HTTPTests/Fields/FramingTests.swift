import HTTPTypes
import Testing

@testable import HTTP

/// Returns a POST with these lines in its head, and the bytes after it.
private func post(_ lines: [String], _ rest: String = "", version: String = "1.1") -> String {
    "POST / HTTP/\(version)\r\nHost: h\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n" + rest
}

@Suite("Message body length, RFC 9112, section 6")
struct FramingTests {
    @Test(arguments: ["5", "05", "0000000000000000000000000000005", " 5\t"])
    func `Content-Length gives the length of the body`(value: String) throws {
        let request = try #require(onlyRequest(in: post(["Content-Length: \(value)"], "hello")))
        #expect(String(decoding: request.body, as: UTF8.self) == "hello")
    }

    @Test func `Without a length there is no body, and the next request follows`() {
        let outcome = feed(post([]) + post(["Content-Length: 0"]) + post([]))
        #expect(outcome.requests.count == 3)
        #expect(outcome.requests.allSatisfy { $0.body.isEmpty })
    }

    @Test(arguments: ["GET", "HEAD", "DELETE", "OPTIONS"])
    func `A body is read for every method`(method: String) {
        let text = "\(method) / HTTP/1.1\r\nHost: h\r\nContent-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n"
        #expect(feed(text + post([])).requests.map(\.body) == ["GET / HTTP/1.1\r\n\r\n", ""])
    }

    @Test(arguments: [
        "", "+5", "-1", "0x5", "5 5", "5, 5", "5,5", "5;", "1e1", "5.0", "\"5\"", "five", "٥", "5\t5", "-0", ",5",
        "5,",
    ])
    func `A Content-Length that is not a number is refused`(value: String) {
        #expect(refusal(post(["Content-Length: \(value)"], "hello")) == "400 content_length_invalid")
    }

    @Test func `A second Content-Length is refused, equal or not`() {
        #expect(refusal(post(["Content-Length: 5", "Content-Length: 5"], "hello")) == "400 content_length_repeated")
        #expect(refusal(post(["Content-Length: 0", "content-length: 5"], "hello")) == "400 content_length_repeated")
    }

    @Test(arguments: [
        "262145", "9223372036854775807", "9223372036854775808", "18446744073709551621",
        String(repeating: "9", count: 400),
    ])
    func `A length beyond the limit gets 413 before the body, also if it overflows`(value: String) {
        #expect(refusal(post(["Content-Length: \(value)"])) == "413 body_too_large")
    }

    @Test func `Content-Length together with Transfer-Encoding is refused`() {
        let chunks = "5\r\nhello\r\n0\r\n\r\n"
        for length in ["5", "0", "15", "999999999"] {
            for coding in ["chunked", "gzip", "identity", "gzip, chunked", ""] {
                let lines = ["Content-Length: \(length)", "Transfer-Encoding: \(coding)"]
                #expect(refusal(post(lines, chunks)) == "400 framing_ambiguous")
                #expect(refusal(post(lines.reversed(), chunks)) == "400 framing_ambiguous")
            }
        }
    }

    @Test(arguments: ["chunked", "Chunked", "CHUNKED", "  chunked\t"])
    func `Chunked is recognized in any case`(value: String) {
        let text = post(["Transfer-Encoding: \(value)"], "5\r\nhello\r\n0\r\n\r\n")
        #expect(feed(text).requests.map(\.body) == ["hello"])
    }

    @Test(arguments: [
        ["gzip, chunked"], ["gzip,chunked"], ["identity, chunked"], ["gzip", "chunked"], ["gzip, br", "Chunked"],
        ["a;b=c, chunked"],
    ])
    func `Another coding before chunked gets 501`(values: [String]) {
        #expect(refusal(post(values.map { "Transfer-Encoding: \($0)" })) == "501 transfer_coding_unknown")
    }

    @Test(arguments: [
        [""], [","], ["gzip"], ["identity"], ["chunked, gzip"], ["chunked, chunked"], ["chunked", "chunked"],
        ["chunked", "identity"], ["chunked, "], [", chunked"], ["chunked;q=1"], ["chunked chunked"],
        ["\"chunked\""],
        ["xchunked"], ["chunkedx"], ["chunked/1"], ["gzip, , chunked"], ["chunked", "gzip, chunked"], ["[chunked]"],
        ["gzip, chunked", "chunked"], ["cow", "gzip"], ["", "chunked"], ["chunked", ""], ["x y, chunked()"],
    ])
    func `A coding that leaves the length open is refused`(values: [String]) {
        let text = post(values.map { "Transfer-Encoding: \($0)" }, "5\r\nhello\r\n0\r\n\r\n")
        #expect(refusal(text) == "400 transfer_encoding_invalid")
    }

    @Test func `HTTP/1.0 has no Transfer-Encoding`() {
        let text = post(["Transfer-Encoding: chunked"], "0\r\n\r\n", version: "1.0")
        #expect(refusal(text) == "400 transfer_encoding_unexpected")
        #expect(feed(post(["Content-Length: 5"], "hello", version: "1.0")).requests.map(\.body) == ["hello"])
    }

    @Test func `Similar names are not framing fields`() {
        let outcome = feed(
            post(["Content_Length: 9", "Transfer_Encoding: chunked", "Content-Lengt: 9", "X-Content-Length: 9"]))
        #expect(outcome.requests.map(\.body) == [""])
        #expect(outcome.refusal == nil)
    }
}
