import Testing
import WebSocket

@Suite("The payload of a Close frame, RFC 6455 §5.5.1")
struct ClosePayloadTests {
    private func decode(_ bytes: [UInt8]) throws(WebSocketError) -> ClosePayload {
        try ClosePayload(decoding: bytes.span)
    }

    @Test func `An empty payload has no code`() throws {
        #expect(try decode([]) == .empty)
        #expect(ClosePayload.empty.encoded() == [])
    }

    @Test func `A code and a reason survive encoding and decoding`() throws {
        let payload = ClosePayload(code: .goingAway, reason: "Feierabend 🌙")
        #expect(payload.encoded().prefix(2) == [0x03, 0xE9])
        #expect(try decode(payload.encoded()) == payload)
    }

    @Test func `Half a code is a protocol error`() {
        #expect(throws: WebSocketError.self) { try decode([0x03]) }
        #expect(MessageReader.outcome(of: WireBytes.masked(.close, [0x03])).error?.closeCode == .protocolError)
    }

    @Test(arguments: [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000])
    func `Codes that must not be sent are protocol errors`(code: UInt16) {
        let frame = WireBytes.masked(.close, [UInt8(code >> 8), UInt8(code & 0xFF)])
        #expect(MessageReader.outcome(of: frame).error?.closeCode == .protocolError)
    }

    @Test func `A reason that is not UTF-8 is invalid data, also if it is only truncated`() {
        for reason: [UInt8] in [[0xFF], [0x61, 0xC3], [0xED, 0xA0, 0x80]] {
            let outcome = MessageReader.outcome(of: WireBytes.masked(.close, [0x03, 0xE8] + reason))
            #expect(outcome.error?.closeCode == .invalidPayloadData)
        }
    }

    @Test func `A reason of 123 bytes is sent completely, one of 124 is truncated`() {
        let exact = String(repeating: "x", count: ClosePayload.maxReasonLength)
        #expect(ClosePayload(code: .goingAway, reason: exact).reason.count == 123)
        #expect(ClosePayload(code: .goingAway, reason: exact + "y").reason == Array(exact.utf8))
    }

    @Test func `A reason is never truncated inside a character`() {
        for lead in 0..<4 {
            let reason = String(repeating: "a", count: lead) + String(repeating: "😀", count: 40)
            let payload = ClosePayload(code: .goingAway, reason: reason)
            #expect((120...123).contains(payload.reason.count))
            #expect(String(validating: payload.reason, as: UTF8.self).map(reason.hasPrefix) == true)
        }
    }
}
