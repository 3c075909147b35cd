import Testing

@testable import Signatures

@Suite("An ECDSA signature")
struct ECDSASignatureTests {
    private func scalar(_ bytes: UInt8...) -> [UInt8] {
        [UInt8](repeating: 0, count: 32 - bytes.count) + bytes
    }

    @Test func `converts to two DER integers that are minimal and never negative`() {
        #expect(
            ECDSASignature.der(fromRaw: scalar(1) + scalar(0x80)) == [0x30, 7, 0x02, 1, 1, 0x02, 2, 0, 0x80])
        #expect(ECDSASignature.der(fromRaw: scalar() + scalar(1, 0)) == [0x30, 7, 0x02, 1, 0, 0x02, 2, 1, 0])
        let highest = [UInt8](repeating: 0xFF, count: 64)
        #expect(ECDSASignature.der(fromRaw: highest)?.count == 72)
    }

    @Test(arguments: [0, 1, 32, 63, 65, 72, 128])
    func `must be 64 bytes long`(count: Int) {
        #expect(ECDSASignature.der(fromRaw: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func `survives conversion to DER and back`() {
        for (r, s) in [(scalar(1), scalar(0xFF)), (scalar(0x80, 0), scalar(0x7F, 0xFF)), (scalar(), scalar())] {
            #expect(ECDSASignature.der(fromRaw: r + s).flatMap(ECDSASignature.raw) == r + s)
        }
        let highest = [UInt8](repeating: 0xFF, count: 64)
        #expect(ECDSASignature.der(fromRaw: highest).flatMap(ECDSASignature.raw) == highest)
    }

    @Test(
        arguments: [
            [], [0x30], [0x30, 0], [0x31, 6, 2, 1, 1, 2, 1, 1], [0x30, 7, 2, 1, 1, 2, 1, 1],
            [0x30, 6, 2, 1, 1, 2, 2, 1],
            [0x30, 7, 2, 1, 1, 2, 1, 1, 0], [0x30, 6, 2, 1, 1, 3, 1, 1], [0x30, 3, 2, 1, 1],
            [0x30, 38, 2, 33] + [UInt8](repeating: 1, count: 33) + [2, 1, 1],
        ] as [[UInt8]])
    func `is refused if its DER is truncated, too long or malformed`(der: [UInt8]) {
        #expect(ECDSASignature.raw(fromDER: der) == nil)
    }
}
