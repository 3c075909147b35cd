/// The payload of a Close frame: a code and a reason, or nothing (RFC 6455 §5.5.1).
public struct ClosePayload: Equatable, Sendable {
    /// Maximum number of bytes of a reason: the payload of a control frame less the two bytes of the code.
    public static let maxReasonLength = FrameHeader.maxControlPayloadLength - 2

    /// The code, or nil if the payload is empty. A receiver may treat nil as ``CloseCode/noStatusReceived``.
    public let code: CloseCode?
    /// UTF-8 of at most ``maxReasonLength`` bytes, not necessarily for people. Empty without a code.
    public let reason: [UInt8]

    /// An empty payload.
    public static let empty = ClosePayload(code: nil, reason: [])

    private init(code: CloseCode?, reason: [UInt8]) {
        self.code = code
        self.reason = reason
    }

    /// Creates a payload to send.
    ///
    /// - Parameters:
    ///   - code: a code that may be sent; any other is a programming error.
    ///   - reason: a text that is cut at a character boundary to ``maxReasonLength`` bytes.
    public init(code: CloseCode, reason: String = "") {
        precondition(code.mayBeSent)
        var bytes = Array(reason.utf8)
        if bytes.count > Self.maxReasonLength {
            var end = Self.maxReasonLength
            // A byte 10xxxxxx continues a character: cutting before it would split the character.
            while bytes[end] & 0xC0 == 0x80 { end -= 1 }
            bytes.removeSubrange(end...)
        }
        self.init(code: code, reason: bytes)
    }

    /// Decodes the payload of a received Close frame.
    ///
    /// - Throws: 1002 for half a code or one that must not be sent, 1007 for a reason that is not UTF-8.
    public init(decoding payload: Span<UInt8>) throws(WebSocketError) {
        guard payload.count != 0 else {
            self = .empty
            return
        }
        guard payload.count >= 2 else { throw .protocolError("a close code has two bytes") }
        let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.mayBeSent else { throw .protocolError("close code \(code.rawValue) must not be sent") }
        let reason = payload.extracting(2...)
        guard UTF8Validator.isValid(reason) else { throw .invalidUTF8(in: "the close reason") }
        self.init(code: code, reason: Array(copying: reason))
    }

    /// Returns the bytes of the frame's payload, at most 125.
    public func encoded() -> [UInt8] {
        guard let code else { return [] }
        return [UInt8(code.rawValue >> 8), UInt8(truncatingIfNeeded: code.rawValue)] + reason
    }
}
