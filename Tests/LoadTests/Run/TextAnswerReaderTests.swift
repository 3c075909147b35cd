import Testing

@testable import Load

@Suite struct TextAnswerReaderTests {
    private static func reader(after text: String) -> TextAnswerReader {
        var reader = TextAnswerReader(Array("PONG\r\n".utf8))
        reader.append(Array(text.utf8).span)
        return reader
    }

    private static let accepted = Answer(outcome: .accepted(isRepeat: false))

    @Test func `each answer is found once among other text`() {
        var reader = Self.reader(after: "INFO {}\r\nPONG\r\n+OK\r\nPONG\r\nPON")
        #expect(reader.next() == Self.accepted && reader.next() == Self.accepted && reader.next() == nil)
        reader.append(Array("G\r\n".utf8).span)
        #expect(reader.next() == Self.accepted && reader.next() == nil)
    }

    @Test func `an answer that arrives byte by byte is found`() {
        var reader = TextAnswerReader(Array("PONG\r\n".utf8))
        var found = 0
        for byte in "PPONPONG\r\nxPONG\r\n".utf8 {
            reader.append([byte].span)
            while reader.next() != nil { found += 1 }
        }
        #expect(found == 2)
    }

    @Test func `the last line explains why the connection ended`() {
        var silent = Self.reader(after: "")
        #expect(silent.finish() == nil)
        var reader = Self.reader(after: "INFO {}\r\n-ERR 'Authorization Violation'\r\n")
        #expect(reader.next() == nil)
        let reason = "the connection ended before the answer, after '-ERR 'Authorization Violation''"
        #expect(reader.finish() == Answer(outcome: .unknown(reason: reason)))
    }

    @Test func `text that is not an answer is not kept completely`() {
        var reader = Self.reader(after: String(repeating: "x", count: 3 * TextAnswerReader.keptBytes) + "PO")
        #expect(reader.next() == nil)
        #expect(reader.received.count == TextAnswerReader.keptBytes)
        reader.append(Array("NG\r\n".utf8).span)
        #expect(reader.next() == Self.accepted)
        #expect(reader.received.isEmpty)
    }
}
