import Testing
import WebSocket

@Suite("Reading messages, RFC 6455 §5.4 and §6.2")
struct MessageReaderTests {
    private func reader(maxMessageBytes: Int = 1 << 20) -> MessageReader {
        MessageReader(role: .server, maxMessageBytes: maxMessageBytes)
    }

    @Test func `No bytes give no events`() throws {
        var reader = reader()
        let nothing: [UInt8] = []
        reader.append(nothing.span)
        #expect(try reader.next() == .needMoreBytes)
    }

    @Test func `Messages come out in order, also if bytes are appended before all are taken`() throws {
        var reader = reader()
        let frames = (UInt8(0)..<20).map { WireBytes.masked(.binary, [$0]) }
        reader.append((frames[0] + frames[1] + frames[2]).span)
        #expect(try reader.next() == .binary([0]))
        for frame in frames[3...] { reader.append(frame.span) }
        for value in UInt8(1)..<20 { #expect(try reader.next() == .binary([value])) }
        #expect(try reader.next() == .needMoreBytes)
        #expect(reader.heldBytes == 0)
    }

    @Test func `Messages before an error are delivered first`() throws {
        var reader = reader()
        let frames = WireBytes.masked(.text, "a") + WireBytes.masked(.ping) + WireBytes.masked(.continuation)
        reader.append(frames.span)
        #expect(try reader.next() == .text("a"))
        #expect(try reader.next() == .ping([]))
        #expect(throws: WebSocketError.self) { try reader.next() }
    }

    @Test func `An error is permanent, whatever follows`() {
        var reader = reader()
        let first = reader.read(WireBytes.unmasked(.text))
        #expect(first.error?.closeCode == .protocolError)
        #expect(reader.read(WireBytes.masked(.text, "fine")) == first)
        #expect(reader.heldBytes == 0)
    }

    @Test func `Bytes after a Close frame are ignored and not kept`() {
        var reader = reader()
        let close = WireBytes.masked(.close, [0x03, 0xE9])
        #expect(reader.read(close) == Outcome(events: [.close(code: .goingAway, reason: [])]))
        #expect(reader.read(WireBytes.masked(.text, "late") + [0xFF]) == Outcome())
        #expect(reader.heldBytes == 0)
    }

    @Test func `Between messages no memory is held beyond a partial header`() {
        var reader = reader()
        let many = (0..<500).flatMap { _ in WireBytes.masked(.text, "tiny") }
        #expect(reader.heldBytes == 0)
        #expect(reader.read(many).events.count == 500)
        #expect(reader.heldBytes == 0)
        // A frame's first bytes at the end of a large read do not keep the room of that read.
        #expect(reader.read(many + [0x81, 0x84, 1]).events.count == 500)
        #expect((3...64).contains(reader.heldBytes))
        #expect(reader.read([2, 3, 4] + [0x60, 0x60, 0x60, 0x60]).events == [.text("abcd")])
        #expect(reader.heldBytes == 0)
    }

    @Test func `An announced frame takes no memory before its bytes arrive`() {
        var reader = reader(maxMessageBytes: 64 << 20)
        var header: [UInt8] = []
        FrameHeader(opcode: .binary, payloadLength: 64 << 20, maskingKey: WireBytes.key).encode(into: &header)
        #expect(reader.read(header) == Outcome())
        #expect(reader.heldBytes == 0)
        #expect(reader.read([UInt8](repeating: 0, count: 1000)) == Outcome())
        #expect((1000...8192).contains(reader.heldBytes))
    }

    @Test func `Every frame is counted, including fragments and control frames`() {
        var reader = reader()
        #expect(reader.frameCount == 0)
        let frames =
            WireBytes.masked(.text, isFinal: false) + WireBytes.masked(.continuation, isFinal: false)
            + WireBytes.masked(.ping) + WireBytes.masked(.continuation)
        #expect(reader.read(frames, inPiecesOf: 1).events.count == 2)
        #expect(reader.frameCount == 4)
        #expect(reader.read([0x89]) == Outcome())
        #expect(reader.frameCount == 4)
    }

    @Test(arguments: [0, 1, 125, 126, 127, 65535, 65536])
    func `Lengths around the header's size limits are read in pieces of any size`(count: Int) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let frames = WireBytes.masked(.binary, payload) + WireBytes.masked(.ping, [7])
        for size in [1, 2, 7, 13, 14, 15, 1000, .max] {
            let outcome = MessageReader.outcome(of: frames, inPiecesOf: size)
            #expect(outcome == Outcome(events: [.binary(payload), .ping([7])]))
        }
    }

    @Test func `A client reads what a server sends`() {
        let frames = WireBytes.unmasked(.text, Array("hi".utf8)) + WireBytes.unmasked(.ping)
        for size in [1, .max] {
            let outcome = MessageReader.outcome(of: frames, role: .client, inPiecesOf: size)
            #expect(outcome == Outcome(events: [.text("hi"), .ping([])]))
        }
        #expect(MessageReader.outcome(of: WireBytes.masked(.text), role: .client).error?.closeCode == .protocolError)
    }
}
