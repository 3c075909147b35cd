import Testing
import WebSocket

@Suite("Text messages are UTF-8, RFC 6455 §8.1")
struct MessageTextTests {
    private let valid = Array("κόσμε".utf8)

    private func reader() -> MessageReader {
        MessageReader(role: .server, maxMessageBytes: 1 << 20)
    }

    @Test func `Characters may be cut by fragments and by reads`() {
        let text = Array("Hello-µ@ßöäüàá-UTF-8!! 😀".utf8)
        var frames = WireBytes.masked(.text, [], isFinal: false)
        for byte in text { frames += WireBytes.masked(.continuation, [byte], isFinal: false) }
        frames += WireBytes.masked(.continuation, [])
        for size in [1, 3, 1000] {
            #expect(MessageReader.outcome(of: frames, inPiecesOf: size) == Outcome(events: [.text(text)]))
        }
    }

    @Test func `Invalid text is refused at its first invalid byte, in the middle of a frame`() {
        // U+110000: impossible from its second byte on. The frame announces more, which never comes.
        let payload = valid + [0xF4, 0x90, 0x80, 0x80] + Array("edited".utf8)
        let frame = WireBytes.masked(.text, payload)
        let badByte = frame.count - payload.count + valid.count + 1
        var reader = reader()
        #expect(reader.read(Array(frame[..<badByte]), inPiecesOf: 1) == Outcome())
        #expect(reader.read([frame[badByte]]).error?.closeCode == .invalidPayloadData)
    }

    @Test func `Invalid text is refused in its fragment, before the message ends`() {
        var reader = reader()
        #expect(reader.read(WireBytes.masked(.text, valid, isFinal: false)) == Outcome())
        let bad = WireBytes.masked(.continuation, [0xED, 0xA0], isFinal: false)
        #expect(reader.read(bad).error?.closeCode == .invalidPayloadData)
    }

    @Test func `A character that one fragment begins must continue in the next`() {
        let frames =
            WireBytes.masked(.text, [0xE2, 0x82], isFinal: false)
            + WireBytes.masked(.continuation, [0x28], isFinal: false)
        #expect(MessageReader.outcome(of: frames).error?.closeCode == .invalidPayloadData)
    }

    @Test func `A message that ends inside a character is refused`() {
        let oneFrame = WireBytes.masked(.text, [0x61, 0xF0, 0x9F, 0x98])
        let emptyEnd = WireBytes.masked(.text, [0xC3], isFinal: false) + WireBytes.masked(.continuation)
        for frames in [oneFrame, emptyEnd] {
            #expect(MessageReader.outcome(of: frames).error?.closeCode == .invalidPayloadData)
        }
    }

    @Test func `A control frame inside a cut character has no effect on it`() {
        let frames =
            WireBytes.masked(.text, [0xF0, 0x9F], isFinal: false) + WireBytes.masked(.ping, [0xFF])
            + WireBytes.masked(.continuation, [0x98, 0x80])
        #expect(MessageReader.outcome(of: frames) == Outcome(events: [.ping([0xFF]), .text("😀")]))
    }

    @Test func `Binary messages may have any content`() {
        let payload: [UInt8] = [0xFF, 0xC0, 0x80]
        #expect(MessageReader.outcome(of: WireBytes.masked(.binary, payload)) == Outcome(events: [.binary(payload)]))
    }

    @Test func `Large text is validated to its last byte, in any pieces`() {
        var text = Array(String(repeating: "aä€😀", count: 20_000).utf8)
        for size in [1000, 4093, 65536, .max] {
            let outcome = MessageReader.outcome(of: WireBytes.masked(.text, text), inPiecesOf: size)
            #expect(outcome == Outcome(events: [.text(text)]))
        }
        text[text.count - 1] = 0x61
        #expect(MessageReader.outcome(of: WireBytes.masked(.text, text)).error?.closeCode == .invalidPayloadData)
    }
}
