/// What a Close frame says: a code and a reason, or nothing at all (RFC 6455 §5.5.1).
public struct ClosePayload: Equatable, Sendable {
    /// The most bytes that a reason may have: a control frame's, less the code's two.
    public static let maxReasonLength = FrameHeader.maxControlPayloadLength - 2

    /// Nil when the frame says nothing, which its receiver may read as ``CloseCode/noStatusReceived``.
    public let code: CloseCode?
    /// UTF-8 of at most ``maxReasonLength`` bytes, not necessarily meant for people. Empty without a code.
    public let reason: [UInt8]

    /// A Close frame that says nothing.
    public static let empty = ClosePayload(code: nil, reason: [])

    private init(code: CloseCode?, reason: [UInt8]) {
        self.code = code
        self.reason = reason
    }

    /// A payload to send.
    ///
    /// - Parameters:
    ///   - code: one that may be sent; any other is a programming error.
    ///   - reason: cut at a character's boundary to ``maxReasonLength`` bytes.
    public init(code: CloseCode, reason: String = "") {
        precondition(code.mayBeSent)
        var bytes = Array(reason.utf8)
        if bytes.count > Self.maxReasonLength {
            var end = Self.maxReasonLength
            // A byte 10xxxxxx continues a character: cutting before it would leave half of one.
            while bytes[end] & 0xC0 == 0x80 { end -= 1 }
            bytes.removeSubrange(end...)
        }
        self.init(code: code, reason: bytes)
    }

    /// The payload of a Close frame that was received.
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

    /// The bytes of the frame's payload, at most 125.
    public func encoded() -> [UInt8] {
        guard let code else { return [] }
        return [UInt8(code.rawValue >> 8), UInt8(truncatingIfNeeded: code.rawValue)] + reason
    }
}
