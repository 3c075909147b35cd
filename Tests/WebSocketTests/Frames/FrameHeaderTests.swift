import Testing
import WebSocket

@Suite("Frame headers, RFC 6455 §5.2")
struct FrameHeaderTests {
    private func decode(
        _ bytes: [UInt8], role: Role = .server, allowsRSV1: Bool = false
    ) throws(WebSocketError) -> FrameHeader? {
        var offset = 0
        return try FrameHeader.decode(from: bytes.span, at: &offset, role: role, allowsRSV1: allowsRSV1)
    }

    private func encode(_ header: FrameHeader) -> [UInt8] {
        var bytes: [UInt8] = []
        header.encode(into: &bytes)
        return bytes
    }

    @Test(
        arguments: [
            (0, [0x82, 0x00]), (125, [0x82, 0x7D]),
            (126, [0x82, 0x7E, 0x00, 0x7E]), (0xFFFF, [0x82, 0x7E, 0xFF, 0xFF]),
            (0x10000, [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0]),
            (Int.max, [0x82, 0x7F, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        ] as [(Int, [UInt8])])
    func `The length takes as few bytes as possible`(length: Int, bytes: [UInt8]) throws {
        let header = FrameHeader(opcode: .binary, payloadLength: length)
        #expect(encode(header) == bytes)
        #expect(try decode(bytes, role: .client) == header)
    }

    @Test func `A header is read at any offset, once its last byte has arrived`() throws {
        for length in [0, 125, 126, 0xFFFF, 0x10000] {
            for maskingKey in [nil, WireBytes.key] {
                let header = FrameHeader(opcode: .text, payloadLength: length, isFinal: false, maskingKey: maskingKey)
                let role: Role = maskingKey == nil ? .client : .server
                let bytes = encode(header)
                for count in 0..<bytes.count {
                    #expect(try decode(Array(bytes[..<count]), role: role) == nil)
                }
                var offset = 3
                let padded = [9, 9, 9] + bytes + [1]
                let decoded = try FrameHeader.decode(from: padded.span, at: &offset, role: role)
                #expect(decoded == header)
                #expect(offset == 3 + bytes.count)
            }
        }
    }

    @Test func `The longest header has 14 bytes`() {
        let header = FrameHeader(opcode: .binary, payloadLength: .max, maskingKey: WireBytes.key)
        #expect(encode(header).count == FrameHeader.maxEncodedLength)
    }

    @Test(
        arguments: [
            [0x81, 0xFE, 0, 0], [0x81, 0xFE, 0, 125], [0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0],
            [0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0, 126], [0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
        ] as [[UInt8]])
    func `A length in more bytes than it needs is refused`(bytes: [UInt8]) {
        #expect(throws: WebSocketError.self) { try decode(bytes) }
    }

    @Test func `A length with its top bit set is refused`() {
        let error = #expect(throws: WebSocketError.self) { try decode([0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0]) }
        #expect(error?.closeCode == .protocolError)
    }

    @Test(arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8])
    func `Reserved opcodes are refused at the first byte`(opcode: UInt8) {
        let error = #expect(throws: WebSocketError.self) { try decode([0x80 | opcode]) }
        #expect(error?.closeCode == .protocolError)
    }

    @Test(arguments: UInt8(1)...7)
    func `RSV bits are refused at the first byte`(rsv: UInt8) {
        let error = #expect(throws: WebSocketError.self) { try decode([0x81 | rsv << 4]) }
        #expect(error?.closeCode == .protocolError)
    }

    @Test func `RSV1, if negotiated, is allowed only on the first frame of a message`() throws {
        let header = FrameHeader(opcode: .text, payloadLength: 5, rsv1: true, maskingKey: WireBytes.key)
        #expect(encode(header).first == 0xC1)
        #expect(try decode(encode(header), allowsRSV1: true) == header)
        for first: UInt8 in [0xC0, 0xC8, 0xC9, 0xCA, 0xE1, 0xD1] {
            #expect(throws: WebSocketError.self) { try decode([first], allowsRSV1: true) }
        }
    }

    @Test(arguments: [0x08, 0x09, 0x0A] as [UInt8])
    func `Control frames may not be fragmented`(first: UInt8) {
        #expect(throws: WebSocketError.self) { try decode([first]) }
    }

    @Test func `Control frames may have 125 bytes, not 126`() throws {
        for first: UInt8 in [0x88, 0x89, 0x8A] {
            #expect(try decode([first, 0x80 | 125, 0, 0, 0, 0])?.payloadLength == 125)
            #expect(throws: WebSocketError.self) { try decode([first, 0x80 | 126]) }
            #expect(throws: WebSocketError.self) { try decode([first, 0x80 | 127]) }
        }
    }

    @Test func `A server requires masked frames, a client unmasked ones`() throws {
        #expect(try decode([0x81, 0x80, 1, 2, 3, 4])?.maskingKey == MaskingKey(1, 2, 3, 4))
        #expect(throws: WebSocketError.self) { try decode([0x81, 0x00]) }
        #expect(try decode([0x81, 0x00], role: .client)?.payloadLength == 0)
        #expect(throws: WebSocketError.self) { try decode([0x81, 0x80], role: .client) }
    }
}
