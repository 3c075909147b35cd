extension FrameHeader {
    /// Decodes the header at `offset` and moves `offset` behind it. Returns nil, without moving `offset`, while bytes
    /// are missing.
    ///
    /// Each rule is checked as soon as its byte has arrived, so a bad frame is refused before it is complete.
    ///
    /// - Parameters:
    ///   - bytes: the received bytes.
    ///   - offset: the index in `bytes` where the header begins.
    ///   - role: the reading end. A server requires masked frames, a client unmasked ones (§5.1).
    ///   - allowsRSV1: True if an extension that uses RSV1 was negotiated.
    /// - Throws: 1002 for a frame that breaks §5.2 or §5.5.
    public static func decode(
        from bytes: Span<UInt8>, at offset: inout Int, role: Role, allowsRSV1: Bool = false
    ) throws(WebSocketError) -> FrameHeader? {
        let available = bytes.count - offset
        guard available >= 1 else { return nil }
        let first = bytes[offset]
        let opcode = try decodeFirst(first, allowsRSV1: allowsRSV1)

        guard available >= 2 else { return nil }
        let second = bytes[offset + 1]
        let isMasked = second & maskBit != 0
        let shortLength = second & lengthBits
        switch role {
        case .server where !isMasked: throw .protocolError("a frame from a client must be masked")
        case .client where isMasked: throw .protocolError("a frame from a server must not be masked")
        default: break
        }
        if opcode.isControl && shortLength > maxControlPayloadLength {
            throw .protocolError("a control frame may have at most \(maxControlPayloadLength) bytes")
        }

        var index = offset + 2
        let payloadLength: Int
        switch shortLength {
        case length16:
            guard available >= 4 else { return nil }
            payloadLength = Int(bytes[index]) << 8 | Int(bytes[index + 1])
            index += 2
            if payloadLength <= 125 { throw .lengthNotMinimal }
        case length64:
            guard available >= 10 else { return nil }
            var length: UInt64 = 0
            for position in index..<index + 8 {
                length = length << 8 | UInt64(bytes[position])
            }
            index += 8
            guard length <= Int.max else { throw .protocolError("a frame's length has its top bit set") }
            payloadLength = Int(length)
            if payloadLength <= 0xFFFF { throw .lengthNotMinimal }
        default:
            payloadLength = Int(shortLength)
        }

        var maskingKey: MaskingKey?
        if isMasked {
            guard bytes.count - index >= 4 else { return nil }
            maskingKey = MaskingKey(bytes[index], bytes[index + 1], bytes[index + 2], bytes[index + 3])
            index += 4
        }
        offset = index
        return FrameHeader(
            opcode: opcode, payloadLength: payloadLength, isFinal: first & finBit != 0, rsv1: first & rsv1Bit != 0,
            maskingKey: maskingKey)
    }

    /// Decodes the opcode from a frame's first byte and checks that byte.
    private static func decodeFirst(_ first: UInt8, allowsRSV1: Bool) throws(WebSocketError) -> Opcode {
        guard let opcode = Opcode(rawValue: first & opcodeBits) else { throw .protocolError("reserved opcode") }
        if first & rsv23Bits != 0 { throw .protocolError("RSV2 or RSV3 is set") }
        if first & rsv1Bit != 0 {
            // Only the first frame of a message marks it as compressed (RFC 7692 §6.1).
            guard allowsRSV1, opcode == .text || opcode == .binary else {
                throw .protocolError("RSV1 is set on a frame that does not begin a compressed message")
            }
        }
        if opcode.isControl && first & finBit == 0 { throw .protocolError("a control frame must not be fragmented") }
        return opcode
    }
}

extension WebSocketError {
    fileprivate static let lengthNotMinimal = protocolError("a frame's length takes more bytes than it needs")
}
