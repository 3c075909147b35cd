import TestSupport
import Testing
import WebSocket

@Suite("Compressing messages, RFC 7692 §7.2.1")
struct DeflaterTests {
    /// Reads a compressed message like a client.
    private func read(_ payload: [UInt8]) -> Outcome {
        var frame: [UInt8] = []
        Frame.append(.binary, payload: payload.span, rsv1: true, into: &frame)
        return MessageReader.outcome(of: frame, role: .client, maxMessageBytes: 1 << 24, allowsCompression: true)
    }

    @Test func `The RFC's example is reproduced`() {
        #expect(WireBytes.deflated(Array("Hello".utf8)) == [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
    }

    @Test func `The empty message becomes one byte, §7.2.3.6`() {
        #expect(WireBytes.deflated([]) == [0x00])
    }

    @Test func `The output does not depend on earlier messages`() {
        var deflater = Deflater()
        let messages = [Array("Hello".utf8), [], Array("Hello, hello".utf8), [UInt8](repeating: 7, count: 100_000)]
        for message in messages + messages.reversed() {
            var payload: [UInt8] = [1, 2, 3]
            deflater.append(message.span, to: &payload)
            #expect(payload == [1, 2, 3] + WireBytes.deflated(message))
        }
    }

    @Test(arguments: [9, 12, 15])
    func `The output can be decompressed, for any size and window`(windowBits: Int) {
        var generator = SeededGenerator(seed: UInt64(windowBits))
        var deflater = Deflater(windowBits: windowBits)
        for count in [0, 1, 2, 3, 100, 255, 256, 257, 511, 512, 4095, 4096, 4097, 65_535, 65_536, 100_000] {
            for values in [0...255, 0x61...0x64, 0...0] as [ClosedRange<UInt8>] {
                let message = (0..<count).map { _ in UInt8.random(in: values, using: &generator) }
                var payload: [UInt8] = []
                deflater.append(message.span, to: &payload)
                #expect(read(payload) == Outcome(events: [.binary(message)]))
                #expect(payload.count <= count + count / 40 + 8, "noise hardly grows")
            }
        }
    }

    @Test func `A smaller window limits the distance of references`() {
        var generator = SeededGenerator(seed: 7692)
        let noise = (0..<600).map { _ in UInt8.random(in: 0...255, using: &generator) }
        #expect(WireBytes.deflated(noise + noise, windowBits: 9).count > 1200)
        #expect(WireBytes.deflated(noise + noise, windowBits: 12).count < 700)
    }

    @Test func `A chat message shrinks to three quarters`() {
        let json =
            #"{"type":"message","message":{"room":"lobby","seq":48213,"rev":48213,"sender":"alice","#
            + #""client_message_id":"7D0E41C7-3B7F-4B0A-9C53-5F1D0C6F2E7B","text":"Has anybody seen the notes of "#
            + #"last Tuesday's meeting?","created_at":"2026-11-21T02:13:52.106Z"}}"#
        let payload = WireBytes.deflated(Array(json.utf8))
        #expect(read(payload) == Outcome(events: [.binary(Array(json.utf8))]))
        #expect(payload.count * 4 <= json.utf8.count * 3 + 40)
    }
}
