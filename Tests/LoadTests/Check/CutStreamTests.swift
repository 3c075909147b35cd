import Testing

@testable import Load

@Suite struct CutStreamTests {
    /// Returns the marks found in a stream that arrives in pieces of this size.
    static func marks(in text: String, piecesOf size: Int) -> [Mark] {
        var stream = CutStream()
        var marks: [Mark] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            stream.take(bytes.span.extracting(start..<min(start + size, bytes.count))) { piece in
                var offset = 0
                while let mark = Mark.next(in: piece, at: &offset) { marks.append(mark) }
                return piece.count - offset
            }
            #expect(stream.held.count <= 80, "no more than the longest mark may have")
        }
        return marks
    }

    @Test func `each mark is found once, wherever the stream is cut`() {
        let longest = Mark(
            run: 999_999_999_999_999_999, room: Int(UInt32.max), number: Int(UInt32.max), time: 999_999_999_999_999_999)
        let marks = [MarkTests.mark, longest, Mark(run: 1, room: 2, number: 3, time: 4), MarkTests.mark]
        let text = "MSG BSL 1\r\nBSL:BS" + marks.map(MarkTests.text).joined(separator: "xxB\r\nBSL:1:2:3") + "BB"
        for size in 1...text.utf8.count { #expect(Self.marks(in: text, piecesOf: size) == marks, "by \(size)") }
    }

    @Test func `held bytes are searched again with the next piece`() {
        var stream = CutStream()
        var seen: [String] = []
        for piece in ["PO", "NG", "x", "y"] {
            stream.take(Array(piece.utf8).span) { bytes in
                seen.append(String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self))
                return seen.count < 3 ? min(3, bytes.count) : 0
            }
        }
        #expect(seen == ["PO", "PONG", "ONGx", "y"])
        #expect(stream.held.isEmpty)
    }
}
