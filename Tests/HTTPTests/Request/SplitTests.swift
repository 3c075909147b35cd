import HTTPTypes
import Testing

@testable import HTTP

@Suite("However the bytes are cut")
struct SplitTests {
    /// Pipelined requests with every kind of framing; the last one closes the connection.
    static let stream = Array(
        """
        GET /a?x=1 HTTP/1.1\r\nHost: h\r\n\r\n\
        POST /b HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"a":"\r\n\r\n"}\
        \r\nPOST /c HTTP/1.1\r\nhost: h\r\nTransfer-Encoding: chunked\r\n\r\n\
        4;x="y;z"\r\nab\r\n\r\n1\r\nc\r\n0\r\nX-Trailer: t\r\n\r\n\
        HEAD http://other:81/d HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nGET\
        PUT /e HTTP/1.0\r\nConnection: keep-alive\r\nExpect: x\r\nContent-Length: 1\r\n\r\nx\
        OPTIONS * HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok\
        DELETE /f HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\n
        """.utf8)

    /// Bytes that are refused after a valid request.
    static let hostile: [String] = [
        "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\nHost: h\n\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloGET / HTTP/1.1\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;\n\r\nhello\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nX: \u{0}\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX : y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nX: y\r\n z\r\n\r\n", "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "\u{16}\u{3}\u{1}",
        "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "GET /#x HTTP/1.1\r\nHost: h\r\n\r\n",
    ]

    @Test func `seven requests come out of the stream`() throws {
        let outcome = feed([Self.stream])
        #expect(outcome.refusal == nil)
        #expect(outcome.requests.map(\.method) == ["GET", "POST", "POST", "HEAD", "PUT", "OPTIONS", "DELETE"])
        #expect(outcome.requests.map(\.body) == ["", "{\"a\":\"\r\n\r\n\"}", "ab\r\nc", "GET", "x", "ok", ""])
        #expect(outcome.requests.map(\.path) == ["/a?x=1", "/b", "/c", "/d", "/e", "*", "/f"])
        #expect(outcome.requests.map(\.keepAlive) == [true, true, true, true, true, true, false])
    }

    @Test func `byte by byte, the requests are the same`() {
        #expect(drip(Self.stream).withoutContinues == feed([Self.stream]).withoutContinues)
    }

    @Test func `in two pieces, the requests are the same`() {
        let expected = feed([Self.stream]).withoutContinues
        for cut in 0...Self.stream.count {
            let pieces = [Array(Self.stream[..<cut]), Array(Self.stream[cut...])]
            #expect(feed(pieces).withoutContinues == expected, "cut at \(cut)")
        }
    }

    @Test func `in pieces of any size, the requests are the same`() {
        let expected = feed([Self.stream]).withoutContinues
        for size in 1...64 {
            let pieces = stride(from: 0, to: Self.stream.count, by: size).map {
                Array(Self.stream[$0..<min($0 + size, Self.stream.count)])
            }
            #expect(feed(pieces).withoutContinues == expected, "pieces of \(size)")
        }
    }

    @Test(arguments: hostile)
    func `a refusal has the same reason`(text: String) {
        let bytes = Array((head() + text).utf8)
        let expected = feed([bytes]).withoutContinues
        #expect(expected.requests.count == 1)
        #expect(expected.refusal != nil)
        for cut in 0...bytes.count {
            let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
            #expect(feed(pieces).withoutContinues == expected, "cut at \(cut)")
        }
    }

    @Test func `all bytes may arrive before the first event is requested`() throws {
        var parser = RequestParser()
        for byte in Self.stream { parser.append([byte].span) }
        #expect(parser.buffer.count == Self.stream.count)
        #expect(feed([[]], to: &parser).requests == feed([Self.stream]).requests)
    }

    @Test func `a copy of a parser is independent`() {
        var parser = RequestParser()
        _ = feed([Array(Self.stream[..<60])], to: &parser)
        var copy = parser
        let rest = Array(Self.stream[60...])
        #expect(feed([rest], to: &parser) == feed([rest], to: &copy))
    }
}
