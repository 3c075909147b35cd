import TestSupport
import Testing
import WebSocket

@Suite("Random bytes and random cuts with fixed seeds")
struct MessageFuzzTests {
    /// A few random messages with control frames between their fragments, and the events they should give.
    private func conversation(using generator: inout SeededGenerator) -> (bytes: [UInt8], events: [MessageReader.Event])
    {
        var bytes: [UInt8] = []
        var events: [MessageReader.Event] = []
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
            let isText = Bool.random(using: &generator)
            let unit = isText ? Array("aé€😀".utf8) : [0xFF, 0x00, 0x80]
            let payload = (0..<Int.random(in: 0...40, using: &generator)).flatMap { _ in unit }
            var start = 0
            var opcode: Opcode = isText ? .text : .binary
            while true {
                let end = Int.random(in: start...payload.count, using: &generator)
                let isLast = end == payload.count && Bool.random(using: &generator)
                let key = MaskingKey(using: &generator)
                bytes += WireBytes.masked(opcode, Array(payload[start..<end]), isFinal: isLast, key: key)
                start = end
                opcode = .continuation
                if isLast { break }
                if Int.random(in: 0..<3, using: &generator) == 0 {
                    let ping = (0..<Int.random(in: 0...125, using: &generator)).map { UInt8($0) }
                    bytes += WireBytes.masked(.ping, ping, key: key)
                    events.append(.ping(ping))
                }
            }
            events.append(isText ? .text(payload) : .binary(payload))
        }
        return (bytes, events)
    }

    private func readInRandomPieces(_ bytes: [UInt8], using generator: inout SeededGenerator) -> Outcome {
        var reader = MessageReader(role: .server, maxMessageBytes: 10_000)
        var outcome = Outcome()
        var start = 0
        while start < bytes.count {
            let end = start + Int.random(in: 1...min(60, bytes.count - start), using: &generator)
            reader.append(bytes.span.extracting(start..<end))
            outcome.drain(&reader)
            start = end
        }
        return outcome
    }

    @Test func `Valid conversations are read in any pieces`() {
        var generator = SeededGenerator(seed: 6455)
        for _ in 0..<500 {
            let (bytes, events) = conversation(using: &generator)
            #expect(readInRandomPieces(bytes, using: &generator) == Outcome(events: events))
        }
    }

    @Test func `Mutated conversations never crash, and end the same whole and in pieces`() {
        var generator = SeededGenerator(seed: 1007)
        for _ in 0..<3000 {
            var (bytes, _) = conversation(using: &generator)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = bytes.indices.randomElement(using: &generator)!
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 1: bytes[index] = .random(in: 0...255, using: &generator)
                case 2 where bytes.count > 1: bytes.remove(at: index)
                default: bytes.insert(.random(in: 0...255, using: &generator), at: index)
                }
            }
            let whole = MessageReader.outcome(of: bytes, maxMessageBytes: 10_000)
            #expect(readInRandomPieces(bytes, using: &generator) == whole)
            #expect(whole.error.map { $0.closeCode.mayBeSent } != false)
        }
    }

    @Test func `Random bytes never crash, for either role`() {
        var generator = SeededGenerator(seed: 1002)
        for _ in 0..<5000 {
            let count = Int.random(in: 0...80, using: &generator)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            // A plausible first byte gets further than a random one.
            if count > 1 { bytes[0] = [0x81, 0x01, 0x82, 0x88, 0x89].randomElement(using: &generator)! }
            for role in [Role.server, .client] {
                let whole = MessageReader.outcome(of: bytes, role: role, maxMessageBytes: 1000)
                #expect(MessageReader.outcome(of: bytes, role: role, maxMessageBytes: 1000, inPiecesOf: 1) == whole)
            }
        }
    }
}
