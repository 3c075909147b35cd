import Testing

@testable import WebSocket

@Suite("SHA-1, FIPS 180-4")
struct SHA1Tests {
    private func hex(_ text: String) -> String {
        SHA1.digest(of: Array(text.utf8)).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }

    @Test func `hashes the published examples of none, one block and two blocks`() {
        #expect(hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        #expect(hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "84983e441c3bd26ebaae4aa1f95129e5e54670f1")
    }

    @Test func `hashes the published example over many blocks`() {
        #expect(hex(String(repeating: "a", count: 1_000_000)) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
    }
}

@Suite("Base64, RFC 4648")
struct Base64Tests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `encodes the RFC's examples, §10`(plain: String, encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decodedCount(encoded) == plain.utf8.count)
    }

    @Test func `has a character for each six-bit value`() {
        #expect(Base64.encode([0xFB, 0xFF, 0xFE, 0x00, 0x10, 0x83]) == "+//+ABCD")
    }

    @Test(arguments: ["Zg", "Zg=", "Zg=a", "Z===", "====", "Zm9_", "Zm 9", "Zmäß"])
    func `rejects other text`(text: String) {
        #expect(Base64.decodedCount(text) == nil)
    }
}

@Suite("Sec-WebSocket-Key and Sec-WebSocket-Accept, RFC 6455 §1.3")
struct AcceptKeyTests {
    @Test func `match the RFC's example`() {
        #expect(AcceptKey.accept(for: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test(arguments: 14...18)
    func `need exactly 16 bytes in Base64`(count: Int) {
        #expect(AcceptKey.isValid(Base64.encode([UInt8](repeating: 7, count: count))) == (count == 16))
    }
}

@Suite("Lists of tokens, RFC 9110 §5.6.1")
struct TokenListTests {
    @Test func `are collected over several lines, without whitespace and empty elements`() {
        #expect(TokenList.parse(["a, b ,\tc", "", " ,, d"]) == ["a", "b", "c", "d"])
        #expect(TokenList.parse([]) == [])
    }

    @Test(arguments: ["a b", "a/b", "a, \"b\"", "ä", "a;q=1", "a, b\u{0}"])
    func `are invalid if an element is not a token`(line: String) {
        #expect(TokenList.parse([line]) == nil)
    }

    @Test func `are searched for whole tokens in any case`() {
        #expect(TokenList.contains("upgrade", in: ["keep-alive, Upgrade"]))
        #expect(TokenList.contains("websocket", in: ["h2c/1", "WebSocket"]))
        #expect(!TokenList.contains("upgrade", in: ["upgrades", "up grade"]))
    }
}
