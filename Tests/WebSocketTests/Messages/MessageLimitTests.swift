import Testing
import WebSocket

@Suite("The limit of a message's size")
struct MessageLimitTests {
    private let limit = 1000

    private func outcome(of bytes: [UInt8]) -> Outcome {
        MessageReader.outcome(of: bytes, maxMessageBytes: limit)
    }

    private func payload(_ count: Int) -> [UInt8] {
        [UInt8](repeating: 0x61, count: count)
    }

    @Test func `A message of the maximum size is accepted, one more byte is too large`() {
        #expect(outcome(of: WireBytes.masked(.text, payload(limit))) == Outcome(events: [.text(payload(limit))]))
        let error = outcome(of: WireBytes.masked(.text, payload(limit + 1))).error
        #expect(error == WebSocketError(closeCode: .messageTooBig, reason: "a message may have at most 1000 bytes"))
    }

    @Test func `The header alone decides, before the payload arrives`() {
        var header: [UInt8] = []
        FrameHeader(opcode: .binary, payloadLength: limit + 1, maskingKey: WireBytes.key).encode(into: &header)
        #expect(outcome(of: header).error?.closeCode == .messageTooBig)
        #expect(outcome(of: header.dropLast()) == Outcome())
        var largest: [UInt8] = []
        FrameHeader(opcode: .binary, payloadLength: .max, maskingKey: WireBytes.key).encode(into: &largest)
        #expect(outcome(of: largest).error?.closeCode == .messageTooBig)
    }

    @Test func `Fragments are added up`() {
        let first = WireBytes.masked(.text, payload(600), isFinal: false)
        let joined = Outcome(events: [.text(payload(limit))])
        #expect(outcome(of: first + WireBytes.masked(.continuation, payload(400))) == joined)
        let error = outcome(of: first + WireBytes.masked(.continuation, payload(401))).error
        #expect(error?.closeCode == .messageTooBig)
    }

    @Test func `Control frames inside a message do not count`() {
        let frames =
            WireBytes.masked(.text, payload(limit), isFinal: false) + WireBytes.masked(.ping, payload(125))
            + WireBytes.masked(.continuation)
        #expect(outcome(of: frames) == Outcome(events: [.ping(payload(125)), .text(payload(limit))]))
    }

    @Test func `Every message can use the whole limit`() {
        let frame = WireBytes.masked(.binary, payload(limit))
        #expect(outcome(of: frame + frame).events.count == 2)
    }

    @Test func `With a limit of zero only empty messages are accepted`() {
        #expect(MessageReader.outcome(of: WireBytes.masked(.text), maxMessageBytes: 0) == Outcome(events: [.text("")]))
        let error = MessageReader.outcome(of: WireBytes.masked(.text, "a"), maxMessageBytes: 0).error
        #expect(error?.closeCode == .messageTooBig)
    }

    @Test func `Endless empty fragments take no memory`() {
        var reader = MessageReader(role: .server, maxMessageBytes: limit)
        let empty = WireBytes.masked(.continuation, isFinal: false)
        let frames = WireBytes.masked(.text, isFinal: false) + (0..<10_000).flatMap { _ in empty }
        #expect(reader.read(frames, inPiecesOf: 4096) == Outcome())
        #expect(reader.heldBytes <= 64)
        #expect(reader.frameCount == 10_001)
    }
}
