import TestSupport
import Testing
import WebSocket

@Suite("UTF-8, RFC 6455 §8.1 and RFC 3629 §4")
struct UTF8ValidatorTests {
    private func isValid(_ bytes: [UInt8]) -> Bool {
        UTF8Validator.isValid(bytes.span)
    }

    /// Returns the standard library's verdict.
    private func isUTF8(_ bytes: [UInt8]) -> Bool {
        String(validating: bytes, as: UTF8.self) != nil
    }

    @Test func `Every Unicode scalar is valid`() {
        var failures = 0
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            if !isValid(Array(UTF8.encode(scalar)!)) { failures += 1 }
        }
        #expect(failures == 0)
    }

    @Test func `All sequences of one to three bytes are judged as by the standard library`() {
        var differences = 0
        for first in UInt8.min...UInt8.max {
            if isValid([first]) != isUTF8([first]) { differences += 1 }
            for second in UInt8.min...UInt8.max {
                if isValid([first, second]) != isUTF8([first, second]) { differences += 1 }
                // ASCII in front adds nothing new for a third byte.
                guard first >= 0x80 else { continue }
                for third: UInt8 in [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xF4, 0xFF] {
                    if isValid([first, second, third]) != isUTF8([first, second, third]) { differences += 1 }
                }
            }
        }
        #expect(differences == 0)
    }

    @Test func `Four-byte sequences are judged as by the standard library at every boundary`() {
        let edges: [UInt8] = [0x00, 0x7F, 0x80, 0x81, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        var differences = 0
        for first in UInt8(0xEF)...0xFF {
            for second in UInt8.min...UInt8.max {
                for third in edges {
                    for fourth in edges
                    where isValid([first, second, third, fourth]) != isUTF8([first, second, third, fourth]) {
                        differences += 1
                    }
                }
            }
        }
        #expect(differences == 0)
    }

    @Test(
        arguments: [
            [0x80], [0xC0], [0xC1], [0xC3, 0x28], [0xE0, 0x9F], [0xE2, 0x82, 0x28], [0xED, 0xA0], [0xF0, 0x8F],
            [0xF4, 0x90], [0xF5], [0xFE], [0xFF], [0x61, 0xF1, 0x80, 0x80, 0xC0],
        ] as [[UInt8]])
    func `The first invalid byte is refused, not a later one`(bytes: [UInt8]) {
        var validator = UTF8Validator()
        for index in bytes.indices {
            let isPossible = validator.append(Array(bytes[index..<index + 1]))
            #expect(isPossible == (index < bytes.count - 1))
        }
        // An error is permanent.
        #expect(validator.append([0x61]) == false)
        #expect(validator.append([]) == false)
        #expect(!validator.isComplete)
    }

    @Test func `Text may be cut anywhere`() {
        let text = Array("κόσμε – 20 ASCII bytes here, 😀 then ÿ, 한국어 and \u{10FFFF}".utf8)
        for cut in 0...text.count {
            var validator = UTF8Validator()
            #expect(validator.append(Array(text[..<cut])) == true)
            #expect(validator.isComplete == isUTF8(Array(text[..<cut])))
            #expect(validator.append(Array(text[cut...])) == true)
            #expect(validator.isComplete)
        }
    }

    @Test func `Text that ends inside a character is incomplete`() {
        for bytes: [UInt8] in [[0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xF4]] {
            var validator = UTF8Validator()
            #expect(validator.append(bytes) == true)
            #expect(!validator.isComplete)
            #expect(!isValid(bytes))
        }
    }

    @Test func `An invalid byte is found anywhere in a run of ASCII`() {
        for count in [1, 15, 16, 17, 31, 32, 33, 64, 100] {
            for position in 0..<count {
                var bytes = [UInt8](repeating: 0x61, count: count)
                #expect(isValid(bytes))
                bytes[position] = 0xFF
                #expect(!isValid(bytes))
                bytes[position] = 0xC3
                #expect(!isValid(bytes))
                if position + 1 < count {
                    bytes[position + 1] = 0xA4
                    #expect(isValid(bytes))
                }
            }
        }
    }

    @Test func `Random bytes are judged as by the standard library, whole and in pieces`() {
        var generator = SeededGenerator(seed: 0x8E11)
        // These bytes produce near misses more often than uniformly random ones.
        let alphabet: [UInt8] = [
            0x20, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4,
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...40, using: &generator)
            let pad = [UInt8](repeating: 0x61, count: Int.random(in: 0...20, using: &generator))
            let bytes = pad + (0..<count / 8).map { _ in alphabet.randomElement(using: &generator)! }
            let expected = isUTF8(bytes)
            #expect(isValid(bytes) == expected)
            let cut = Int.random(in: 0...bytes.count, using: &generator)
            var validator = UTF8Validator()
            let whole =
                validator.append(Array(bytes[..<cut])) && validator.append(Array(bytes[cut...]))
            #expect((whole && validator.isComplete) == expected)
        }
    }
}

extension UTF8Validator {
    /// Expectations cannot hold a span.
    fileprivate mutating func append(_ bytes: [UInt8]) -> Bool {
        append(bytes.span)
    }
}
