import TestSupport
import Testing

@testable import HTTP

@Suite("Eight bytes at a time")
struct ByteTextTests {
    /// Returns samples with the wanted bytes in various densities, next to bytes that a carry or a borrow could confuse
    /// with them.
    private func samples() -> [[UInt8]] {
        var random = SeededGenerator(seed: 7)
        let edges: [UInt8] = [0, 1, 0x1F, 0x20, 0x21, 0x24, 0x25, 0x26, 0x7E, 0x7F, 0x80, 0x81, 0xA0, 0xA5, 0xFF]
        return (0..<3000).map { round in
            (0..<Int.random(in: 0...40, using: &random)).map { _ in
                Int.random(in: 0..<20, using: &random) < round % 20
                    ? UInt8(ascii: "a") : edges.randomElement(using: &random)!
            }
        }
    }

    @Test func `the first occurrence of a byte is found`() {
        for bytes in samples() {
            for start in 0...bytes.count {
                let expected = bytes[start...].firstIndex(of: 0x25)
                #expect(bytes.span.firstIndex(of: 0x25, from: start) == expected, "\(bytes) from \(start)")
            }
        }
    }

    @Test func `the first unprintable byte is found, and never one past the end`() {
        for bytes in samples() {
            for end in [bytes.count, bytes.count / 2] {
                let expected = bytes[..<end].firstIndex { !(0x20...0x7E).contains($0) } ?? end
                #expect(bytes.span.firstIndexOfUnprintable(from: 0, to: end) == expected, "\(bytes) to \(end)")
            }
        }
    }

    @Test func `plain ASCII is recognized`() {
        for bytes in samples()
            + ["", "a", "abcdefgh", "abcdefghi~\u{7F}", "abcdefghijklmnop$&"].map({ Array($0.utf8) })
        {
            let expected = bytes.allSatisfy { $0 < 0x80 && $0 != 0x25 }
            #expect(bytes.span.isASCII(without: 0x25) == expected, "\(bytes)")
        }
        #expect(Array("abcdefghijk".utf8).span.asciiString == "abcdefghijk")
    }

    @Test func `only letters change case`() {
        for byte in UInt8.min...0x7F {
            for other in UInt8.min...UInt8.max {
                let text = String(Unicode.Scalar(byte))
                #expect([other].span.equals(ignoringCase: text) == (other.asciiLowercased == byte.asciiLowercased))
            }
        }
    }
}
