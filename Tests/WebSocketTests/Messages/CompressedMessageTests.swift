import TestSupport
import Testing
import WebSocket

@Suite("Reading compressed messages, RFC 7692 §6.2 and §7.2.2")
struct CompressedMessageTests {
    private typealias W = WireBytes

    private func outcome(of bytes: [UInt8], maxMessageBytes: Int = 1 << 20, inPiecesOf size: Int = .max) -> Outcome {
        MessageReader.outcome(
            of: bytes, maxMessageBytes: maxMessageBytes, allowsCompression: true, inPiecesOf: size)
    }

    /// The payload of the RFC's examples.
    private let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

    @Test(
        arguments: [
            [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
            // A stored block, a final block, and two blocks.
            [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
            [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
            [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
            // As some senders write it, without anything after the final block.
            [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
        ] as [[UInt8]])
    func `The RFC's examples of Hello are read, §7.2.3`(payload: [UInt8]) {
        let frame = W.compressed(.text, payload)
        for size in [1, 3, .max] {
            #expect(outcome(of: frame, inPiecesOf: size) == Outcome(events: [.text("Hello")]))
        }
    }

    @Test func `Output of Python's zlib with other settings is read`() {
        let json =
            #"{"type":"message","message":{"room":"lobby","seq":4,"rev":4,"sender":"alice","#
            + #""client_message_id":"a1","text":"Grüße aus Köln ❤️, and the same again: Grüße aus Köln","#
            + #""created_at":"2026-11-21T02:13:52.135Z"}}"#
        for payload in PythonDeflated.all {
            #expect(outcome(of: W.compressed(.text, payload)) == Outcome(events: [.text(json)]))
        }
    }

    @Test func `After messages are dropped only control frames are read, in and between messages of any kind`() throws {
        for size in [1, 3, .max] {
            var reader = MessageReader(role: .server, maxMessageBytes: 100, allowsCompression: true)
            #expect(reader.read(W.compressed(.text, Array(hello[..<3]), isFinal: false)) == Outcome())
            reader.dropMessages()
            #expect(reader.heldBytes == 0)
            let frames =
                W.masked(.ping, [1]) + W.masked(.continuation, Array(hello[3...])) + W.compressed(.text, [0xFF])
                + W.masked(.text, [0xFF]) + W.masked(.binary, [1]) + W.masked(.close, [0x03, 0xE8])
            let events: [MessageReader.Event] = [.ping([1]), .close(code: .normalClosure, reason: [])]
            #expect(reader.read(frames, inPiecesOf: size) == Outcome(events: events))
        }
    }

    @Test func `Two final blocks form one message`() {
        let final: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        #expect(outcome(of: W.compressed(.text, final + final)) == Outcome(events: [.text("HelloHello")]))
        #expect(outcome(of: W.compressed(.text, final + hello)) == Outcome(events: [.text("HelloHello")]))
    }

    @Test func `Fragments form one compressed message, also with control frames between them`() {
        let frames =
            W.compressed(.text, Array(hello[..<3]), isFinal: false) + W.masked(.ping, [1])
            + W.masked(.continuation, isFinal: false) + W.masked(.continuation, Array(hello[3...]))
        for size in [1, 5, .max] {
            #expect(outcome(of: frames, inPiecesOf: size) == Outcome(events: [.ping([1]), .text("Hello")]))
        }
    }

    @Test func `Compressed and plain messages may alternate`() {
        let frames =
            W.masked(.text, "plain") + W.compressed(.binary, hello) + W.masked(.text, isFinal: false)
            + W.masked(.continuation, "é") + W.compressed(.text, [0])
        #expect(
            outcome(of: frames)
                == Outcome(events: [.text("plain"), .binary(Array("Hello".utf8)), .text("é"), .text("")]))
    }

    @Test func `RSV1 is allowed only on the first frame of a message, and only after negotiation`() {
        let first = W.compressed(.text, Array(hello[..<3]), isFinal: false)
        for frames in [
            first + W.compressed(.continuation, Array(hello[3...])),
            W.masked(.text, isFinal: false)
                + W.compressed(.continuation, hello),
            W.compressed(.ping, []), W.compressed(.close, []), first + W.compressed(.pong, []),
        ] {
            #expect(outcome(of: frames).error?.closeCode == .protocolError)
        }
        #expect(MessageReader.outcome(of: W.compressed(.text, hello)).error?.closeCode == .protocolError)
        let header: [UInt8] = [0x81 | 0x20, 0x80, 0, 0, 0, 0]
        #expect(outcome(of: header).error?.closeCode == .protocolError, "RSV2 means nothing")
    }

    @Test func `A message cannot refer to the previous one, since context takeover is not negotiated`() {
        let second = outcome(of: W.compressed(.text, hello) + W.compressed(.text, [0xF2, 0x00, 0x11, 0x00, 0x00]))
        #expect(second.events == [.text("Hello")])
        #expect(second.error?.closeCode == .invalidPayloadData)
    }

    @Test func `Invalid or incomplete compressed data is refused`() {
        for payload in [[], [0xFF], [0x07], [0x00, 0x05, 0x00], [0xDE, 0xAD, 0xBE, 0xEF]] as [[UInt8]] {
            #expect(outcome(of: W.compressed(.binary, payload)).error?.closeCode == .invalidPayloadData)
        }
        for payload in [hello] + PythonDeflated.all {
            for count in 0..<payload.count - 1 {
                let outcome = outcome(of: W.compressed(.binary, Array(payload[..<count])))
                #expect(outcome.error?.closeCode == .invalidPayloadData, "cut at \(count)")
            }
        }
    }

    @Test func `Text is validated after decompression, wherever its characters are cut`() {
        for bad in [[0xFF], [0x61, 0xC3], [0xED, 0xA0, 0x80]] as [[UInt8]] {
            let frame = W.compressed(.text, W.deflated(bad))
            #expect(
                outcome(of: frame).error
                    == WebSocketError(closeCode: .invalidPayloadData, reason: "a text message is not UTF-8"))
            #expect(outcome(of: W.compressed(.binary, W.deflated(bad))) == Outcome(events: [.binary(bad)]))
        }
    }

    @Test func `The limit applies to the decompressed size, exactly`() {
        for limit in [0, 1, 511, 512, 513, 1000, 65_536] {
            let message = [UInt8](repeating: 0x61, count: limit)
            let fits = W.compressed(.text, W.deflated(message))
            #expect(outcome(of: fits, maxMessageBytes: max(limit, 8)) == Outcome(events: [.text(message)]))
            let more = W.compressed(.text, W.deflated(message + [0x61]))
            #expect(outcome(of: more, maxMessageBytes: limit).error?.closeCode == .messageTooBig)
        }
    }

    @Test func `A compression bomb is refused at the limit, and takes no more memory than that`() {
        // 16 MiB in 16 KiB.
        let bomb = W.deflated([UInt8](repeating: 0, count: 1 << 24))
        #expect(bomb.count < 1 << 15)
        var reader = MessageReader(role: .server, maxMessageBytes: 1 << 17, allowsCompression: true)
        let outcome = reader.read(W.compressed(.binary, bomb) + W.compressed(.binary, bomb))
        #expect(outcome.events.isEmpty)
        #expect(outcome.error?.closeCode == .messageTooBig)
        #expect(reader.heldBytes == 0)
    }

    @Test func `No memory is held between compressed messages`() {
        var reader = MessageReader(role: .server, maxMessageBytes: 1 << 20, allowsCompression: true)
        for _ in 0..<100 {
            #expect(reader.read(W.compressed(.text, hello)).events == [.text("Hello")])
            #expect(reader.heldBytes == 0)
        }
    }

    @Test func `Mutated compressed messages never crash, and end the same whole and in pieces`() {
        var generator = SeededGenerator(seed: 1009)
        for _ in 0..<2000 {
            var payload = ([hello] + PythonDeflated.all).randomElement(using: &generator)!
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                payload[payload.indices.randomElement(using: &generator)!] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
            let frame = W.compressed(.text, payload)
            let whole = outcome(of: frame, maxMessageBytes: 10_000)
            #expect(outcome(of: frame, maxMessageBytes: 10_000, inPiecesOf: 7) == whole)
            #expect(whole.error.map { $0.closeCode != .protocolError } != false)
        }
    }
}

/// One message as compressed by Python's zlib: at level 9 with the largest window and memory, at level 6 with the
/// smallest, and without matching.
private enum PythonDeflated {
    static let all = [best, small, huffmanOnly].map(bytes)

    private static let best = """
        648dbd0dc230148457b15e9d20ec100a2f40414b451339f153b0e438601b44146506264034cc8028e8b2090bb0023642345477d2\
        773f3df86e8bc0a141e7448d90fc1cefc1b66d13986ecbb20bc4e10ef82c018b878f3a34126d0808adaa58adb442e38bef42a164\
        6434008f471ffcc28e8ff18244ec1d598e376dc8f37c7ddd4f09114612bf41e24413702d94e1e42f1d1f2c0a8fb210718e4dd93c\
        a534657435659c663c67139ae56b18863700
        """
    private static let small = """
        aa562aa92c4855b252ca4d2d2e4e4c4f55d281b3acaa958af2f373817239f94949954099e2d442252b131da5a2d432305d9c9a97\
        925a0454909893990cd29a9c93999a57120f35213e3305246708942849ad2801b2dd8b0eef393c3f5521b1b458c1fbf0b69c3c85\
        477397bcdfd1afa3909897a2509291aa509c980b944e4fccccb352c0500db2a12835b12415a094f844907146064666ba8686ba46\
        862106465686c656a6467a86c6a6514ab5b50000
        """
    private static let huffmanOnly = """
        04c1316e02311005d0ab8c7e6d226c20c55c808236559ad5b03bdaac647b138f8940883370828826674029e87c935c2057c87b67\
        d4d3bb8291d44c468543523319157c4699e704469cf7fb131c4c3fc06b87a29fe0b583691eb4802171ea150e7d9c34d72ea9998c\
        da4d0318e2e150f558c1d896f66837253918edda3d66fafdfafefbb93a923c507d5332494a32ca9499b6a53dda4d490e46bb768f\
        190e7d51a93a7452c108cbf0bcf07e11fccb32b05ff1263cf9d5e61597cb3f00
        """

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
