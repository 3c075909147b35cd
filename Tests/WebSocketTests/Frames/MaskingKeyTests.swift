import TestSupport
import Testing
import WebSocket

@Suite("Masking, RFC 6455 §5.3")
struct MaskingKeyTests {
    @Test func `The RFC's masked Hello is reproduced`() {
        var bytes = Array("Hello".utf8)
        WireBytes.key.apply(to: &bytes, from: 0, position: 0)
        #expect(bytes == [0x7F, 0x9F, 0x4D, 0x51, 0x58])
    }

    @Test func `Each byte is combined with the key's byte at its position, for any start, position and length`() {
        // Zero bytes in a key can hide errors in shifting.
        for key: (UInt8, UInt8, UInt8, UInt8) in [(1, 2, 3, 4), (0xFF, 0, 0, 0), (0, 0, 0, 0x80), (0, 0, 0, 0)] {
            let octets = [key.0, key.1, key.2, key.3]
            for start in 0..<9 {
                for position in 0..<5 {
                    for count in 0..<40 {
                        let plain = (0..<start + count).map { UInt8($0 &* 7 & 0xFF) }
                        var masked = plain
                        MaskingKey(key.0, key.1, key.2, key.3).apply(to: &masked, from: start, position: position)
                        let expected = plain.enumerated().map { index, byte in
                            index < start ? byte : byte ^ octets[(index - start + position) % 4]
                        }
                        #expect(masked == expected)
                    }
                }
            }
        }
    }

    @Test func `Masking twice restores the bytes, in any pieces`() {
        let plain = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        var bytes: [UInt8] = []
        var position = 0
        for count in [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 392] {
            bytes += plain[position..<position + count]
            WireBytes.key.apply(to: &bytes, from: position, position: position)
            position += count
        }
        #expect(bytes != plain)
        WireBytes.key.apply(to: &bytes, from: 0, position: 0)
        #expect(bytes == plain)
    }

    @Test func `All bits of a generated key come from the generator`() {
        var generator = SeededGenerator(seed: 1)
        let keys = (0..<64).map { _ in MaskingKey(using: &generator).bytes }
        #expect(Set(keys.map(\.0)).count > 32)
        #expect(Set(keys.map(\.3)).count > 32)
    }
}
