import Testing
import Wire

/// Tests the access to the bytes of strings and arrays, on earlier systems, too.
@Suite struct StringBytesTests {
    private static let strings = [
        "", "a", "lobby", "a text of more than fifteen bytes", "é", "e\u{301}", "👨‍👩‍👧 and more than fifteen bytes", "\0",
    ]

    @Test(arguments: strings) func `lent bytes are those of the string`(string: String) {
        #expect(string.withUTF8Span { $0.withUnsafeBytes { Array($0) } } == Array(string.utf8))
    }

    @Test func `strings have the same bytes only if their code points are the same`() {
        for one in Self.strings {
            for other in Self.strings {
                #expect(one.hasSameBytes(as: other) == one.utf8.elementsEqual(other.utf8))
            }
        }
    }

    @Test(
        arguments: [
            ([], nil), ([0x61], nil), ([0x61, 0x80], 1), ([0xC3, 0xA9], nil), ([0xC3], 0), ([0x61, 0xE2, 0x82], 1),
            ([0xED, 0xA0, 0x80], 0), ([0xF0, 0x9F, 0x99, 0x82, 0xFF], 4), ([0xC0, 0xAF], 0),
            ([0xF4, 0x90, 0x80, 0x80], 0),
        ] as [([UInt8], Int?)])
    func `the first byte that is not valid UTF-8 is found`(bytes: [UInt8], offset: Int?) {
        #expect(bytes.parsedFirstInvalidUTF8 == offset)
        // The scanner reports the offset that the standard library finds.
        let expected = offset.map { "Invalid UTF-8 at byte \($0)." }
        do throws(Problem) {
            _ = try JSONScanner(bytes)
            #expect(expected == nil)
        } catch {
            #expect(error.detail == expected)
        }
    }
}
