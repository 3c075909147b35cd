/// What stands before a frame's payload (RFC 6455 §5.2).
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
    /// The most bytes that a header takes: two, a 64-bit length and a masking key.
    public static let maxEncodedLength = 14

    /// The most bytes of payload that a control frame may have (§5.5).
    public static let maxControlPayloadLength = 125

    /// What the payload is.
    public let opcode: Opcode
    /// FIN: whether this is the last frame of its message.
    public let isFinal: Bool
    /// RSV1: whether the message is compressed, once permessage-deflate is negotiated (RFC 7692 §6).
    public let rsv1: Bool
    /// The key of the payload, in frames from the client.
    public let maskingKey: MaskingKey?
    /// The bytes that follow the header; on the wire less than 2^63.
    public let payloadLength: Int

    /// The header of one frame.
    ///
    /// - Parameters:
    ///   - opcode: what the payload is.
    ///   - payloadLength: not negative; in control frames at most ``maxControlPayloadLength``.
    ///   - isFinal: whether the message ends with this frame; always in control frames.
    ///   - rsv1: whether the message is compressed; only where that was negotiated.
    ///   - maskingKey: the key that the payload is masked with, from a client.
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

    /// The bytes that the header takes on the wire, 2 to ``maxEncodedLength``.
    public var encodedLength: Int {
        let lengthBytes =
            switch payloadLength {
            case ...125: 0
            case ...0xFFFF: 2
            default: 8
            }
        return 2 + lengthBytes + (maskingKey == nil ? 0 : 4)
    }

    /// Appends the header's bytes to `output`, with the length in as few as possible.
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

    /// Appends the header of an unmasked, whole text message of `payloadLength` bytes, which the caller writes right
    /// behind it.
    public static func appendText(payloadLength: Int, into output: inout [UInt8]) {
        FrameHeader(opcode: .text, payloadLength: payloadLength).encode(into: &output)
    }
}

/// The bits and marks of the first two bytes.
extension FrameHeader {
    static let finBit: UInt8 = 0x80
    static let rsv1Bit: UInt8 = 0x40
    static let rsv23Bits: UInt8 = 0x30
    static let opcodeBits: UInt8 = 0x0F
    static let maskBit: UInt8 = 0x80
    static let lengthBits: UInt8 = 0x7F
    /// In place of a length: the next two bytes are the length.
    static let length16: UInt8 = 126
    /// In place of a length: the next eight bytes are the length.
    static let length64: UInt8 = 127
}
