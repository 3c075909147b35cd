import HTTPTypes
import Testing

@testable import HTTP

@Suite("Buffering")
struct BufferTests {
    private func buffer(_ text: String) -> InputBuffer {
        var buffer = InputBuffer()
        buffer.append(Array(text.utf8).span)
        return buffer
    }

    @Test func `An idle connection holds no memory, whatever it has read`() {
        var parser = RequestParser()
        _ = feed([Array(SplitTests.stream.prefix(300))], to: &parser)
        _ = drip(Array(head().utf8))
        var idle = RequestParser()
        for pieces in [[Array(head().utf8)], Array(head().utf8).map { [$0] }, [Array((head() + head()).utf8)]] {
            _ = feed(pieces, to: &idle)
            #expect(idle.phase == .idle)
            #expect(idle.buffer.bytes.capacity == 0)
        }
    }

    @Test func `An incomplete request holds only bytes that are not parsed yet`() {
        var parser = RequestParser()
        let many = String(repeating: head(), count: 1000)
        _ = feed([Array((many + "GET / HT").utf8)], to: &parser)
        #expect(parser.buffer.count == 8)
        #expect(parser.buffer.bytes.capacity < 128)
    }

    @Test(arguments: ["Content-Length: 9999", "Transfer-Encoding: chunked"])
    func `The buffer holds no bytes of the head while a body arrives`(framing: String) throws {
        var parser = RequestParser()
        let part = "270f\r\n" + String(repeating: "x", count: 5000)
        _ = feed([Array((head() + head("X-A: b", framing) + part).utf8)], to: &parser)
        let pending = try #require(parser.pending)
        #expect(pending.head.headerFields.bytes.capacity < 200)
        #expect(pending.head.headerFields.first(try #require(HTTPField.Name("x-a"))) == "b")
        #expect(pending.head.path == "/")
        #expect(pending.head.authority == "h")
    }

    @Test func `Consuming moves no bytes until as many are consumed as are left`() {
        var buffer = buffer("abcdefgh")
        buffer.consume(3)
        #expect(buffer.start == 3)
        buffer.append(Array("i".utf8).span)
        #expect(buffer.start == 3)
        buffer.consume(4)
        buffer.append(Array("j".utf8).span)
        #expect(buffer.start == 0)
        #expect(String(decoding: buffer.bytes, as: UTF8.self) == "hij")
        buffer.consume(3)
        #expect(buffer.bytes.capacity == 0)
    }

    @Test func `The gap before the unread bytes stays smaller than them`() {
        var buffer = InputBuffer()
        for _ in 0..<1000 {
            buffer.append(Array("0123456789".utf8).span)
            if buffer.count > 10 { buffer.consume(10) }
            #expect(buffer.bytes.count <= 40)
        }
    }

    @Test func `Bytes are taken and moved in order`() {
        var buffer = buffer("abcdefgh")
        #expect(buffer.take(2) == Array("ab".utf8))
        var target = Array("x".utf8)
        buffer.move(atMost: 3, to: &target)
        #expect(target == Array("xcde".utf8))
        buffer.trim()
        #expect(buffer.start == 0)
        #expect(buffer.take(3) == Array("fgh".utf8))
        #expect(buffer.isEmpty)
        buffer.move(atMost: 3, to: &target)
        #expect(target.count == 4)
    }

    @Test func `A line that arrives in pieces is searched once`() throws {
        var reader = LineReader()
        #expect(try reader.next(.field, in: Array("abc".utf8).span, limit: 10) == .incomplete)
        // Bytes before the scan position are not searched again; the LF there would be refused.
        #expect(try reader.next(.field, in: Array("a\nc\r".utf8).span, limit: 10) == .incomplete)
        #expect(try reader.next(.field, in: Array("a\nc\r\n".utf8).span, limit: 10) == .complete(length: 3))
        #expect(throws: RequestRefusal.lineEndInvalid) {
            try reader.next(.field, in: Array("a\nc\r\n".utf8).span, limit: 10)
        }
    }

    @Test func `A line including CRLF may fill its limit and no more`() throws {
        for (text, expected) in [
            ("abc\r\n", LineReader.Line.complete(length: 3)), ("abcd\r\n", .tooLong), ("abc\r", .incomplete),
            ("abc", .incomplete), ("abcd", .tooLong), ("abcd\n", .tooLong),
        ] {
            var reader = LineReader()
            #expect(try reader.next(.field, in: Array(text.utf8).span, limit: 5) == expected)
        }
        var reader = LineReader()
        #expect(try reader.next(.field, in: Span(), limit: 1) == .tooLong)
    }
}
