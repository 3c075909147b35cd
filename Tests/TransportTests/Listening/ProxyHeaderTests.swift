import TestSupport
import Testing

@testable import Transport

@Suite("A PROXY protocol header")
struct ProxyHeaderTests {
    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    private static let v4: [UInt8] = [192, 0, 2, 1, 10, 0, 0, 1, 0xC3, 0x50, 0x01, 0xBB]
    private static let v6: [UInt8] =
        [0x20, 0x01, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [1] + Array(repeating: 0, count: 15) + [
            2, 0, 1, 0, 2,
        ]

    /// Returns a header of version 2.
    private static func binary(
        command: UInt8 = 0x21, _ family: UInt8, _ payload: [UInt8], length: Int? = nil
    ) -> [UInt8] {
        let length = length ?? payload.count
        return signature + [command, family, UInt8(length >> 8), UInt8(length & 0xFF)] + payload
    }

    /// Feeds bytes in pieces of this size, followed by others.
    private static func read(_ bytes: [UInt8], piece: Int = .max, rest: [UInt8] = []) -> (ProxyHeader.Outcome, Int) {
        var header = ProxyHeader()
        let all = bytes + rest
        var taken = 0
        while header.outcome == .needMoreBytes, taken < all.count {
            let end = piece == .max ? all.count : min(all.count, taken + piece)
            let used = header.take(Array(all[taken..<end]).span)
            taken += used
            if used == 0 { break }
        }
        return (header.outcome, taken)
    }

    private static let good: [(String, [UInt8], String?)] = [
        ("TCP4", Array("PROXY TCP4 192.0.2.1 10.0.0.1 50000 443\r\n".utf8), "192.0.2.1"),
        ("TCP6", Array("PROXY TCP6 2001:db8::1 ::2 1 2\r\n".utf8), "2001:db8::1"),
        ("UNKNOWN", Array("PROXY UNKNOWN\r\n".utf8), nil),
        ("UNKNOWN with words", Array("PROXY UNKNOWN ffff:f...f:ffff 65535 65535\r\n".utf8), nil),
        (
            "the longest line",
            Array(
                "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"
                    .utf8), nil
        ),
        ("port 0", Array("PROXY TCP4 192.0.2.1 10.0.0.1 0 65535\r\n".utf8), "192.0.2.1"),
        ("binary IPv4", binary(0x11, v4), "192.0.2.1"),
        ("binary IPv6", binary(0x21, v6), "2001:db8::1"),
        (
            "an IPv4 address within IPv6",
            binary(0x21, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1] + v6[16...]), "192.0.2.1"
        ),
        ("additional values", binary(0x11, v4 + [0x02, 0, 3, 97, 98, 99] + [0xEA, 0, 0]), "192.0.2.1"),
        ("the longest", binary(0x11, v4 + [0x04, 0x0F, 0xF1] + Array(repeating: 0, count: 4081)), "192.0.2.1"),
        ("LOCAL", binary(command: 0x20, 0x00, []), nil),
        ("LOCAL with addresses", binary(command: 0x20, 0x11, v4), nil),
        ("LOCAL with anything", binary(command: 0x20, 0x99, [1, 2, 3]), nil),
        ("UNSPEC", binary(0x00, []), nil),
        ("UNSPEC with anything", binary(0x00, [1, 2, 3]), nil),
        ("UDP", binary(0x12, v4), nil),
        ("UDP by IPv6", binary(0x22, v6), nil),
        ("a UNIX socket", binary(0x31, Array(repeating: 0x61, count: 216)), nil),
    ]

    @Test(arguments: good.indices)
    func `names the source however it is cut, and leaves the following bytes`(index: Int) {
        let (name, bytes, source) = Self.good[index]
        let expected = ProxyHeader.Outcome.source(source.flatMap { IPAddress($0) })
        for piece in [1, 2, 7, 11, 12, 13, 15, 16, 17, .max] {
            let (outcome, taken) = Self.read(bytes, piece: piece, rest: Array("\r\nGET / HTTP/1.1\r\n".utf8))
            #expect(outcome == expected, "\(name) in pieces of \(piece)")
            #expect(taken == bytes.count, "\(name) in pieces of \(piece)")
        }
        for end in bytes.indices {
            let (outcome, taken) = Self.read(Array(bytes[..<end]))
            #expect(outcome == .needMoreBytes && taken == end, "\(name) without its end")
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n", "PROXX", "proxy UNKNOWN\r\n", "PROXY\r\n", "PROXY \r\n", "PROXY UNKNOWN\n",
        "PROXY TCP4\r\n",
        "PROXY TCP4 192.0.2.1 10.0.0.1 1\r\n", "PROXY TCP4 192.0.2.1 10.0.0.1 1 2 3\r\n",
        "PROXY TCP4 192.0.2.1 10.0.0.1 1 65536\r\n", "PROXY TCP4 192.0.2.1 10.0.0.1 01 2\r\n",
        "PROXY TCP4 192.0.2.1 10.0.0.1 1 -2\r\n", "PROXY TCP4 192.0.2.1 10.0.0.1 1 2 \r\n",
        "PROXY  TCP4 192.0.2.1 10.0.0.1 1 2\r\n", "PROXY TCP4 192.0.2 10.0.0.1 1 2\r\n",
        "PROXY TCP4 192.0.2.1 x 1 2\r\n", "PROXY TCP4 ::1 ::2 1 2\r\n", "PROXY TCP6 192.0.2.1 10.0.0.1 1 2\r\n",
        "PROXY TCP6 ::1 10.0.0.1 1 2\r\n", "PROXY UDP4 192.0.2.1 10.0.0.1 1 2\r\n",
        "PROXY tcp4 192.0.2.1 10.0.0.1 1 2\r\n",
        "PROXY UNKNOWNS\r\n", "PROXY UNKNOWN " + String(repeating: "x", count: 100) + "\r\n",
        "\u{16}\u{3}\u{1}\u{2}",
    ])
    func `in text form is refused if malformed`(text: String) {
        for piece in [1, .max] {
            let (outcome, taken) = Self.read(Array(text.utf8), piece: piece)
            guard case .malformed(let reason) = outcome else { Issue.record("\(outcome) of \(text)"); continue }
            #expect(!reason.isEmpty)
            #expect(taken <= ProxyHeader.longestLine)
        }
    }

    @Test func `in binary form is refused if malformed`() {
        var badSignature = Self.binary(0x11, Self.v4)
        badSignature[11] = 0x0B
        let bad: [[UInt8]] = [
            badSignature, Self.binary(command: 0x11, 0x11, Self.v4), Self.binary(command: 0x22, 0x11, Self.v4),
            Self.binary(command: 0x31, 0x11, Self.v4), Self.binary(0x11, Array(Self.v4.dropLast())),
            Self.binary(0x11, []),
            Self.binary(0x21, Self.v4), Self.binary(0x31, Self.v6), Self.binary(0x41, Self.v4),
            Self.binary(0x13, Self.v4),
            Self.binary(0x01, Self.v4), Self.binary(0x10, Self.v4), Self.binary(0x11, Self.v4, length: 4097),
            Self.binary(0x11, Self.v4, length: 65_535), Self.binary(0x11, Self.v4 + [1]),
            Self.binary(0x11, Self.v4 + [1, 0]),
            Self.binary(0x11, Self.v4 + [1, 0, 2, 0]), Self.binary(0x11, Self.v4 + [1, 0xFF, 0xFF, 0]),
            [0x0D, 0x0A, 0x0A],
        ]
        for (index, bytes) in bad.enumerated() {
            for piece in [1, .max] {
                guard case .malformed = Self.read(bytes, piece: piece).0 else {
                    Issue.record("number \(index) is taken for a header")
                    continue
                }
            }
        }
    }

    @Test func `is never read beyond its end or its maximum length`() {
        var generator = SeededGenerator(seed: 14)
        for round in 0..<2000 {
            var bytes = Self.good[round % Self.good.count].1
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            let rest = (0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let whole = Self.read(bytes, rest: rest)
            let pieces = Self.read(bytes, piece: 3, rest: rest)
            #expect(whole.0 == pieces.0 && whole.1 == pieces.1)
            #expect(whole.1 <= 16 + ProxyHeader.longestPayload)
        }
    }
}
