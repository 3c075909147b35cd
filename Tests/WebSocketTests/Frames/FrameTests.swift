import Testing
import WebSocket

@Suite("Whole frames: the examples of RFC 6455 §5.7")
struct FrameTests {
    private let hello = Array("Hello".utf8)

    @Test func `A single-frame unmasked text message`() {
        let bytes = WireBytes.unmasked(.text, hello)
        #expect(bytes == [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        #expect(MessageReader.outcome(of: bytes, role: .client) == Outcome(events: [.text("Hello")]))
    }

    @Test func `A single-frame masked text message`() {
        let bytes = WireBytes.masked(.text, "Hello")
        #expect(bytes == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(MessageReader.outcome(of: bytes) == Outcome(events: [.text("Hello")]))
    }

    @Test func `A fragmented unmasked text message`() {
        let bytes =
            WireBytes.unmasked(.text, Array("Hel".utf8), isFinal: false)
            + WireBytes.unmasked(.continuation, Array("lo".utf8))
        #expect(bytes == [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F])
        #expect(MessageReader.outcome(of: bytes, role: .client) == Outcome(events: [.text("Hello")]))
    }

    @Test func `An unmasked ping and its masked pong`() {
        let ping = WireBytes.unmasked(.ping, hello)
        #expect(ping == [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        #expect(MessageReader.outcome(of: ping, role: .client) == Outcome(events: [.ping(hello)]))
        let pong = WireBytes.masked(.pong, "Hello")
        #expect(pong == [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(MessageReader.outcome(of: pong) == Outcome(events: [.pong(hello)]))
    }

    @Test func `256 bytes and 64 KiB of binary in a single unmasked frame`() {
        for (count, header) in [(256, [0x82, 0x7E, 0x01, 0x00]), (65536, [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0])]
            as [(Int, [UInt8])]
        {
            let payload = [UInt8](repeating: 0xA5, count: count)
            let bytes = WireBytes.unmasked(.binary, payload)
            #expect(bytes == header + payload)
            #expect(MessageReader.outcome(of: bytes, role: .client) == Outcome(events: [.binary(payload)]))
        }
    }

    @Test func `A frame is appended to existing bytes, and only its payload is masked`() {
        var bytes: [UInt8] = [1, 2, 3]
        Frame.append(.binary, payload: [0, 0].span, maskingKey: MaskingKey(5, 6, 7, 8), into: &bytes)
        #expect(bytes == [1, 2, 3, 0x82, 0x82, 5, 6, 7, 8, 5, 6])
    }

    @Test(arguments: [0, 1, 125, 126, 65535, 65536])
    func `A text header and the bytes after it form a frame`(count: Int) {
        let payload = [UInt8](repeating: 0x61, count: count)
        var bytes: [UInt8] = []
        FrameHeader.appendText(payloadLength: count, into: &bytes)
        #expect(bytes + payload == WireBytes.unmasked(.text, payload))
    }

    @Test func `A Close frame carries its code and reason`() {
        var bytes: [UInt8] = []
        Frame.appendClose(ClosePayload(code: .tokenExpired, reason: "exp"), into: &bytes)
        #expect(bytes == [0x88, 0x05, 0x11, 0x31] + Array("exp".utf8))
        var empty: [UInt8] = []
        Frame.appendClose(.empty, maskingKey: WireBytes.key, into: &empty)
        #expect(MessageReader.outcome(of: empty) == Outcome(events: [.close(code: nil, reason: [])]))
    }
}
