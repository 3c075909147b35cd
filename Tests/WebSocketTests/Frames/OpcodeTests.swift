import Testing
import WebSocket

@Suite("Opcodes, RFC 6455 §5.2")
struct OpcodeTests {
    @Test func `Six values are defined, ten are reserved`() {
        let known = (UInt8(0)...15).filter { Opcode(rawValue: $0) != nil }
        #expect(known == [0x0, 0x1, 0x2, 0x8, 0x9, 0xA])
    }

    @Test func `Close, ping and pong are control frames`() {
        #expect([Opcode.close, .ping, .pong].allSatisfy { $0.isControl })
        #expect(![Opcode.continuation, .text, .binary].contains { $0.isControl })
    }
}
