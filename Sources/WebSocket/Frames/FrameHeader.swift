/// The header before a frame's payload (RFC 6455 §5.2).
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-------+-+-------------+-------------------------------+
///     |F|R|R|R| opcode|M| Payload len |    Extended payload length    |
///     |I|S|S|S|  (4)  |A|     (7)     |             (16/64)           |
///     |N|V|V|V|       |S|             |   (if payload len==126/127)   |
///     | |1|2|3|       |K|             |                               |
///     +-+-+-+-+-------+-+-------------+ - - - - - - - - - - - - - - - +
///     |             then the masking key, if MASK is set              |
///     +---------------------------------------------------------------+
public struct FrameHeader: Equatable, Sendable {
    /// Maximum number of bytes of a header: two, a 64-bit length and a masking key.
    public static let maxEncodedLength = 14

    /// Maximum number of payload bytes of a control frame (§5.5).
    public static let maxControlPayloadLength = 125

    /// The type of the payload.
    public let opcode: Opcode
    /// FIN: True if this is the last frame of its message.
    public let isFinal: Bool
    /// RSV1: True if the message is compressed, once permessage-deflate is negotiated (RFC 7692 §6).
    public let rsv1: Bool
    /// The key that the payload is masked with, in frames from the client.
    public let maskingKey: MaskingKey?
    /// Number of payload bytes after the header; less than 2^63 on the wire.
    public let payloadLength: Int

    /// Creates the header of one frame.
    ///
    /// - Parameters:
    ///   - opcode: the type of the payload.
    ///   - payloadLength: not negative; in control frames at most ``maxControlPayloadLength``.
    ///   - isFinal: True if this frame ends its message; always true in control frames.
    ///   - rsv1: True if the message is compressed; only if compression was negotiated.
    ///   - maskingKey: the key that a client masks the payload with.
    public init(
        opcode: Opcode, payloadLength: Int, isFinal: Bool = true, rsv1: Bool = false, maskingKey: MaskingKey? = nil
    ) {
        precondition(payloadLength >= 0)
        precondition(!opcode.isControl || (isFinal && payloadLength <= Self.maxControlPayloadLength))
        self.opcode = opcode
        self.isFinal = isFinal
        self.rsv1 = rsv1
        self.maskingKey = maskingKey
        self.payloadLength = payloadLength
    }

    /// Appends the header's bytes to `output`, with the shortest encoding of the length.
    public func encode(into output: inout [UInt8]) {
        output.append((isFinal ? Self.finBit : 0) | (rsv1 ? Self.rsv1Bit : 0) | opcode.rawValue)
        let maskBit = maskingKey == nil ? 0 : Self.maskBit
        switch payloadLength {
        case ...125:
            output.append(maskBit | UInt8(payloadLength))
        case ...0xFFFF:
            output.append(maskBit | Self.length16)
            output.append(UInt8(payloadLength >> 8))
            output.append(UInt8(truncatingIfNeeded: payloadLength))
        default:
            output.append(maskBit | Self.length64)
            for shift in stride(from: 56, through: 0, by: -8) {
                output.append(UInt8(truncatingIfNeeded: payloadLength >> shift))
            }
        }
        if let key = maskingKey?.bytes {
            output.append(key.0)
            output.append(key.1)
            output.append(key.2)
            output.append(key.3)
        }
    }

    /// Appends the header of an unmasked, unfragmented text message of `payloadLength` bytes. The caller appends the
    /// payload right after it.
    public static func appendText(payloadLength: Int, into output: inout [UInt8]) {
        FrameHeader(opcode: .text, payloadLength: payloadLength).encode(into: &output)
    }
}

/// Bits and special values of the first two bytes.
extension FrameHeader {
    static let finBit: UInt8 = 0x80
    static let rsv1Bit: UInt8 = 0x40
    static let rsv23Bits: UInt8 = 0x30
    static let opcodeBits: UInt8 = 0x0F
    static let maskBit: UInt8 = 0x80
    static let lengthBits: UInt8 = 0x7F
    /// A length value that means: the next two bytes are the length.
    static let length16: UInt8 = 126
    /// A length value that means: the next eight bytes are the length.
    static let length64: UInt8 = 127
}
