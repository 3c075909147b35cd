import TestSupport
import Testing

@testable import Signatures

@Suite("Base64url")
struct Base64URLTests {
    @Test(
        arguments: [
            ("", []), ("Zg", [0x66]), ("Zm8", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]), ("-_8", [0xFB, 0xFF]),
            ("AAAA", [0, 0, 0]),
        ] as [(String, [UInt8])])
    func `is read and written as in RFC 4648`(text: String, bytes: [UInt8]) {
        #expect(Base64URL.decode(Array(text.utf8)[...]) == bytes)
        #expect(Base64URL.encode(bytes) == text)
    }

    @Test(arguments: ["Zg==", "Zh", "Zm9", "Z", "Zm9vZ", "+/8", "Zm 8", "Zm8\n", "Zé", "A\u{0}AA"])
    func `is refused with padding, other characters, leftover bits, or truncated`(text: String) {
        #expect(Base64URL.decode(Array(text.utf8)[...]) == nil)
    }

    @Test func `of all bytes equals OpenSSL's`() throws {
        let encoded = try TestKeys.base64URL("printf '\\000\\177\\200\\377\\020\\076\\077'")
        let bytes: [UInt8] = [0, 0x7F, 0x80, 0xFF, 0x10, 0x3E, 0x3F]
        #expect(Base64URL.decode(Array(encoded.utf8)[...]) == bytes)
        #expect(Base64URL.encode(bytes) == encoded)
    }
}
