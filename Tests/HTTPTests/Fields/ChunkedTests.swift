import HTTPTypes
import Testing

@testable import HTTP

/// A chunked POST with these bytes after the head.
private func post(_ chunks: String) -> String {
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
}

@Suite("Chunked transfer coding, RFC 9112, section 7.1")
struct ChunkedTests {
    @Test(arguments: [
        "5\r\nhello\r\n0\r\n\r\n", "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", "0000000000000005\r\nhello\r\n000\r\n\r\n",
        "1\r\nh\r\n1\r\ne\r\n1\r\nl\r\n1\r\nl\r\n1\r\no\r\n0\r\n\r\n",
    ])
    func `Chunks are joined`(chunks: String) {
        let outcome = feed(post(chunks) + post("0\r\n\r\n"))
        #expect(outcome.requests.map(\.body) == ["hello", ""])
        #expect(drip(Array(post(chunks).utf8)).requests.map(\.body) == ["hello"])
    }

    @Test(arguments: ["1a", "1A"])
    func `Sizes are hexadecimal in either case`(size: String) {
        let data = String(repeating: "x", count: 26)
        #expect(feed(post("\(size)\r\n\(data)\r\n0\r\n\r\n")).requests.map(\.body) == [data])
    }

    @Test func `Data may look like chunks, lines and requests`() {
        let data = "\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n\u{0}\n\r"
        let size = String(data.utf8.count, radix: 16)
        #expect(feed(post("\(size)\r\n\(data)\r\n0\r\n\r\n")).requests.map(\.body) == [data])
    }

    @Test(arguments: [
        ";a", ";a=b", "; a = b", " ; a", ";a=\"b;\\\"c\"", ";a;b=c;d=\"\"", "\t;\ta\t=\tb",
    ])
    func `Extensions are parsed and dropped`(text: String) {
        #expect(feed(post("5\(text)\r\nhello\r\n0\(text)\r\n\r\n")).requests.map(\.body) == ["hello"])
    }

    @Test(arguments: [
        "\r\nhello", "g\r\n", "-5\r\nhello", "+5\r\nhello", "0x5\r\nhello", " 5\r\nhello", "5 \r\nhello", "5\t\r\n",
        "5h\r\n", "5,\r\n", ";a\r\n", "5;\r\n", "5;;a\r\n", "5;a=\r\n", "5;=b\r\n", "5;a b\r\n", "5;a=\"b\r\n",
        "5;a=\"b\"c\r\n", "5;a \r\n", "5;a=\"b\\\r\n", "5 a\r\n", "5;\u{0}\r\n", "5;a=\u{7F}\r\n", "5.0\r\n",
        "5\r\nhellox\r\n", "5\r\nhello\rx", "5\r\nhelloX0\r\n", "5\r\nhello0\r\n\r\n", "00000000000000005\r\n",
        "10000000000000000\r\n", "5\r\nhello\n0\r\n\r\n", "5\u{0}\r\n", "0\u{1}\r\n",
    ])
    func `Malformed chunks are refused`(chunks: String) {
        #expect(refusal(post(chunks)) == "400 chunk_invalid")
    }

    @Test(arguments: ["5\nhello", "5\rhello", "5;a\nhello", "5;a\r\rhello", "0\n\n", "0\r\r", "5;a=\"\n\"\r\n"])
    func `Only CR LF ends a size`(chunks: String) {
        #expect(refusal(post(chunks)) == "400 line_end_invalid")
    }

    @Test(arguments: [
        "40001", "fffffffffffffff0", "FFFFFFFFFFFFFFFF", "7fffffffffffffff", "8000000000000000", "1\r\nx\r\n40000",
    ])
    func `A chunk that exceeds the body's limit gets 413 before its data`(size: String) {
        #expect(refusal(post("\(size)\r\n")) == "413 body_too_large")
    }

    @Test func `Trailers are parsed as strictly as headers, and dropped`() throws {
        let text = post("0\r\nX-Sum: 1\r\nContent-Length: 99\r\nHost: evil\r\nAuthorization: x\r\n\r\n")
        let request = try #require(onlyRequest(in: text))
        #expect(request.head.headerFields.map(\.name) == [.transferEncoding])
        #expect(request.head.authority == "h")
        #expect(refusal(post("0\r\nX : 1\r\n\r\n")) == "400 field_name_invalid")
        #expect(refusal(post("0\r\nX\r\n\r\n")) == "400 field_line_invalid")
        #expect(refusal(post("0\r\n X: 1\r\n\r\n")) == "400 line_folded")
        #expect(refusal(post("0\r\nX: a\u{1}\r\n\r\n")) == "400 field_value_invalid")
        #expect(refusal(post("0\r\nX: a\n\r\n")) == "400 line_end_invalid")
        #expect(refusal(post("0\r\nGET / HTTP/1.1\r\n\r\n")) == "400 field_line_invalid")
    }

    @Test func `A body without its last chunk is not a request`() {
        for chunks in [
            "", "5", "5\r", "5\r\n", "5\r\nhello", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\n", "0\r\n\r", "0\r\nX: y\r\n",
        ] {
            let outcome = feed(post(chunks))
            #expect(outcome.requests.isEmpty)
            #expect(outcome.refusal == nil)
        }
    }
}
