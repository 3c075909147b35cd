import Testing

@testable import Signatures

@Suite("Base64")
struct Base64Tests {
    @Test(
        arguments: [
            ("", []), ("Zg==", [0x66]), ("Zm8=", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]), ("+/8=", [0xFB, 0xFF]),
        ] as [(String, [UInt8])])
    func `is read and written as in RFC 4648`(text: String, bytes: [UInt8]) {
        #expect(Base64.decode(text) == bytes)
        #expect(Base64.encode(bytes) == text)
    }

    @Test(arguments: ["Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "-_8=", "Zm 8", "Zm8=\n", "Zm8=Zm8=", "Zé=="])
    func `is refused without padding, with other characters, leftover bits, or truncated`(text: String) {
        #expect(Base64.decode(text) == nil)
    }
}
