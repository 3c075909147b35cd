import TestSupport
import Testing
import Wire

@Suite struct JSONWritingTests {
    @Test func `characters in strings are escaped where required`() {
        let expected = [
            "": #""""#, "abc": #""abc""#, "\"": #""\"""#, "\\": #""\\""#, "/": #""/""#,
            "\u{8}\u{C}\n\r\t": #""\b\f\n\r\t""#, "\u{0}\u{1}\u{B}\u{1F}": #""\u0000\u0001\u000b\u001f""#,
            "\u{7F}\u{80}\u{2028}\u{2029}é😀": "\"\u{7F}\u{80}\u{2028}\u{2029}é😀\"",
        ]
        for (string, json) in expected { #expect(written { $0.append(quoted: string) } == json) }
    }

    @Test(arguments: ["\u{FF}", "x", "\u{7F}", " "])
    func `a character to escape is found at any position in a word`(other: String) {
        for length in 0..<40 {
            for position in 0..<length {
                for special in ["\"", "\\", "\n", "\u{1F}", "\u{0}"] {
                    var parts = Array(repeating: other, count: length)
                    parts[position] = special
                    let text = parts.joined()
                    let escaped = written { $0.append(quoted: special) }.dropFirst().dropLast()
                    parts[position] = String(escaped)
                    #expect(written { $0.append(escaped: text.utf8Span.span) } == parts.joined())
                }
            }
        }
    }

    @Test func `neighboring bytes are not escaped`() {
        let plain = String(String.UnicodeScalarView((0x20...0xFFFF).compactMap(Unicode.Scalar.init)))
            .replacing("\"", with: "").replacing("\\", with: "")
        #expect(written { $0.append(quoted: plain) } == "\"\(plain)\"")
    }

    @Test(
        arguments: [
            0, 1, 9, 10, 11, 99, 100, 101, 999_999_999, 1_000_000_000, -1, -10, -99, 999_999_999_999_999_999,
            1_000_000_000_000_000_000, 9_223_372_036_854_775_807, -9_223_372_036_854_775_808,
        ] as [Int64])
    func `numbers are written in decimal`(number: Int64) {
        #expect(written { $0.append(decimal: number) } == "\(number)")
    }

    @Test func `random numbers of every length are written in decimal`() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let number = Int64(bitPattern: random.next()) >> Int64.random(in: 0..<63, using: &random)
            #expect(written { $0.append(decimal: number) } == "\(number)")
        }
    }

    @Test func `members are written after a comma`() {
        let object = written {
            $0.append(UInt8(ascii: "{"))
            $0.append(literal: #""a":1"#)
            $0.append(member: "b", "x\n")
            $0.append(member: "c", -5)
            $0.append(member: "d", true)
            $0.append(member: "e", false)
            $0.append(UInt8(ascii: "}"))
        }
        #expect(object == #"{"a":1,"b":"x\n","c":-5,"d":true,"e":false}"#)
    }

    @Test func `random values survive encoding and decoding`() throws {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<2000 {
            let string = random.string(upTo: 60)
            var bytes: [UInt8] = []
            bytes.append(quoted: string)
            #expect(bytes.allSatisfy { $0 >= 0x20 })
            var json = try JSONScanner(bytes)
            let token = try json.readString()
            try json.finish()
            #expect(Array(json.string(token).utf8) == Array(string.utf8))
            #expect(token.count == string.utf8.count)

            var escaped = try JSONScanner(Array(random.quoted(string).utf8))
            let other = try escaped.readString()
            #expect(Array(escaped.string(other).utf8) == Array(string.utf8))
            #expect(other.count == string.utf8.count)
        }
    }
}
