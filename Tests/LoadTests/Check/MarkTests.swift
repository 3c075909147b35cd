import Testing

@testable import Load

@Suite struct MarkTests {
    static let mark = Mark(run: 1_234_567_890, room: 17, number: 4_000_000, time: 123_456_789_012)

    static func text(_ mark: Mark) -> String {
        var bytes: [UInt8] = []
        mark.append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func marks(in text: String) -> [Mark] {
        let bytes = Array(text.utf8)
        var marks: [Mark] = []
        var offset = 0
        while let mark = Mark.next(in: bytes.span, at: &offset) { marks.append(mark) }
        return marks
    }

    /// Returns the rest after the last mark of a text, which later bytes may complete.
    static func rest(of text: String) -> String {
        let bytes = Array(text.utf8)
        var offset = 0
        while Mark.next(in: bytes.span, at: &offset) != nil {}
        return String(decoding: bytes[offset...], as: UTF8.self)
    }

    @Test func `a mark needs no escapes in JSON`() {
        #expect(Self.text(Self.mark) == "BSL:1234567890:17:4000000:123456789012;")
    }

    @Test func `a mark is found wherever it stands`() {
        let text = Self.text(Self.mark)
        for around in ["", "{}", "{\"text\":\"", "B", "BSL", "BSL:", "BSL:1:2:3:", "BSL:1:2:3:4", "BBSL:9"] {
            #expect(Self.marks(in: around + text) == [Self.mark])
            #expect(Self.marks(in: around + text + "xxxx" + around) == [Self.mark])
        }
    }

    @Test func `several marks are found in their order`() {
        let marks = (0..<5).map { Mark(run: 1, room: $0, number: $0 * $0, time: 0) }
        #expect(Self.marks(in: marks.map(Self.text).joined(separator: "\",\"B")) == marks)
        #expect(Self.marks(in: marks.map(Self.text).joined()) == marks)
    }

    @Test(arguments: [
        "BSL:1:2:3:4", "BSL:1:2:3;", "BSL::2:3:4;", "BSL:1:2:3:;", "BSL:1:-2:3:4;", "BSL:1:2:3:4:", "bsl:1:2:3:4;",
        "BSL:1:2:3:1234567890123456789;", "BSL:1:2:4294967296:4;", "BSL:1:4294967296:2:4;", "BSL", "B", "",
    ])
    func `text that only resembles a mark is ignored`(text: String) {
        #expect(Self.marks(in: text).isEmpty)
    }

    @Test(arguments: ["B", "BSL", "BSL:", "BSL:1", "BSL:1:2:3:", "BSL:1:2:3:4"])
    func `a possible mark that is cut at the end is kept`(text: String) {
        #expect(Self.rest(of: text) == text)
        #expect(Self.rest(of: Self.text(Self.mark) + "BSL:1:2:3;" + text) == text)
    }

    @Test(arguments: [
        "", "x", "BS:", "BSL:1:2:3;", "BSL::", "BSL:1:2:3:1234567890123456789", "BSL:1:2:4294967296:4;",
        "BSL:1:2:3:4;x",
    ])
    func `other text at the end is not kept`(text: String) {
        #expect(Self.rest(of: text).isEmpty)
    }

    @Test func `the search continues after the offset`() {
        let bytes = Array((Self.text(Self.mark) + Self.text(Mark(run: 1, room: 0, number: 1, time: 2))).utf8)
        var offset = 1
        #expect(Mark.next(in: bytes.span, at: &offset)?.run == 1)
    }
}
