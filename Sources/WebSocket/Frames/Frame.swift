/// Writing whole frames (RFC 6455 §5.6, §6.1).
public enum Frame {
    /// Appends a frame with its payload to `output`.
    ///
    /// - Parameters:
    ///   - opcode: the type of the payload.
    ///   - payload: the bytes to send, unmasked; in control frames at most 125.
    ///   - isFinal: True if this frame ends its message; always true in control frames.
    ///   - rsv1: True if this frame begins a compressed message; only if compression was negotiated.
    ///   - maskingKey: a fresh key from a client, nil from a server.
    ///   - output: the bytes that the frame is appended to.
    public static func append(
        _ opcode: Opcode, payload: Span<UInt8>, isFinal: Bool = true, rsv1: Bool = false,
        maskingKey: MaskingKey? = nil, into output: inout [UInt8]
    ) {
        let header = FrameHeader(
            opcode: opcode, payloadLength: payload.count, isFinal: isFinal, rsv1: rsv1, maskingKey: maskingKey)
        header.encode(into: &output)
        let start = output.count
        output.append(copying: payload)
        maskingKey?.apply(to: &output, from: start, position: 0)
    }

    /// Appends a Close frame to `output` (§5.5.1).
    ///
    /// - Parameters:
    ///   - payload: the code and the reason.
    ///   - maskingKey: a fresh key from a client, nil from a server.
    ///   - output: the bytes that the frame is appended to.
    public static func appendClose(
        _ payload: ClosePayload, maskingKey: MaskingKey? = nil, into output: inout [UInt8]
    ) {
        append(.close, payload: payload.encoded().span, maskingKey: maskingKey, into: &output)
    }
}
