/// Assembles the frames of a connection into messages (RFC 6455 §5.4). It implements the protocol rules of
/// ``MessageReader``, which buffers the bytes.
struct MessageAssembler: Sendable {
    let role: Role
    let maxMessageBytes: Int
    /// True if messages may be compressed.
    let allowsCompression: Bool
    private(set) var frameCount = 0
    /// True if messages are dropped as they arrive. Control frames are still read.
    private var dropsMessages = false

    /// The current frame, and the number of its payload bytes that have arrived.
    private var frame: FrameHeader?
    private var received = 0

    /// The current message; nil between messages. Control frames may arrive in the middle of one.
    private var messageOpcode: Opcode?
    private var isCompressed = false
    private var message: [UInt8] = []
    private var utf8 = UTF8Validator()
    /// The payload of the current control frame.
    private var control: [UInt8] = []

    init(role: Role, maxMessageBytes: Int, allowsCompression: Bool) {
        self.role = role
        self.maxMessageBytes = maxMessageBytes
        self.allowsCompression = allowsCompression
    }

    var heldBytes: Int { message.capacity + control.capacity }

    mutating func dropMessages() {
        dropsMessages = true
        message = []
    }

    mutating func release() {
        message = []
        control = []
    }

    /// Reads `bytes` from `offset` up to the end of the first event. Returns nil if there is none: all bytes are then
    /// consumed, except for an incomplete header.
    mutating func advance(
        over bytes: Span<UInt8>, from offset: inout Int
    ) throws(WebSocketError) -> MessageReader.Event? {
        while true {
            let header: FrameHeader
            if let frame {
                header = frame
            } else {
                let next = try FrameHeader.decode(from: bytes, at: &offset, role: role, allowsRSV1: allowsCompression)
                guard let next else { return nil }
                try begin(next)
                header = next
            }
            let count = min(header.payloadLength - received, bytes.count - offset)
            if count > 0 {
                try receive(bytes.extracting(offset..<offset + count), of: header)
                offset += count
            }
            guard received == header.payloadLength else { return nil }
            frame = nil
            if let event = try end(header) { return event }
        }
    }

    /// Does the same for an array. An array parameter is borrowed without a copy or a retain.
    mutating func advance(
        over bytes: [UInt8], from offset: inout Int
    ) throws(WebSocketError) -> MessageReader.Event? {
        try advance(over: bytes.span, from: &offset)
    }

    private mutating func begin(_ header: FrameHeader) throws(WebSocketError) {
        frameCount &+= 1
        if !header.opcode.isControl {
            if header.opcode == .continuation {
                if messageOpcode == nil { throw .protocolError("a continuation frame without a message to continue") }
            } else {
                if messageOpcode != nil { throw .protocolError("a new message begins inside a fragmented one") }
                messageOpcode = header.opcode
                isCompressed = header.rsv1
            }
            // Checked before any byte of the payload is stored.
            if header.payloadLength > maxMessageBytes - message.count { throw .messageTooBig(limit: maxMessageBytes) }
        }
        frame = header
        received = 0
    }

    private mutating func receive(_ piece: Span<UInt8>, of header: FrameHeader) throws(WebSocketError) {
        if header.opcode.isControl {
            let start = control.count
            control.append(copying: piece)
            header.maskingKey?.apply(to: &control, from: start, position: received)
        } else if !dropsMessages {
            let start = message.count
            reserve(piece.count, of: header)
            message.append(copying: piece)
            header.maskingKey?.apply(to: &message, from: start, position: received)
            if messageOpcode == .text, !isCompressed, !utf8.append(message, from: start) {
                throw .invalidUTF8(in: "a text message")
            }
        }
        received += piece.count
    }

    /// Reserves room for `count` more bytes of the message.
    ///
    /// The room grows with the received bytes, not with the length in the header: a peer that announces a large frame
    /// gets no memory for it. Each received byte reserves at most four. Geometric growth keeps all copying linear. Once
    /// the end of the message is known, the last step is exact.
    private mutating func reserve(_ count: Int, of header: FrameHeader) {
        let needed = message.count + count
        guard needed > message.capacity else { return }
        let largest = header.isFinal ? message.count + header.payloadLength - received : maxMessageBytes
        message.reserveCapacity(max(needed, min(4 * message.capacity, largest)))
    }

    private mutating func end(_ header: FrameHeader) throws(WebSocketError) -> MessageReader.Event? {
        switch header.opcode {
        case .ping: return .ping(take(&control))
        case .pong: return .pong(take(&control))
        case .close:
            let payload = try ClosePayload(decoding: take(&control).span)
            return .close(code: payload.code, reason: payload.reason)
        case .continuation, .text, .binary:
            guard header.isFinal else { return nil }
            defer { messageOpcode = nil }
            if dropsMessages { return nil }
            if isCompressed { return try inflate(take(&message)) }
            guard messageOpcode == .text else { return .binary(take(&message)) }
            // A complete validator is also ready for the next text.
            guard utf8.isComplete else { throw .invalidUTF8(in: "a text message") }
            return .text(take(&message))
        }
    }

    /// Decompresses a message. Its text is validated only now.
    private func inflate(_ payload: [UInt8]) throws(WebSocketError) -> MessageReader.Event {
        let message = try Inflater().inflate(payload.span, limit: maxMessageBytes)
        guard messageOpcode == .text else { return .binary(message) }
        guard UTF8Validator.isValid(message.span) else { throw .invalidUTF8(in: "a text message") }
        return .text(message)
    }

    private func take(_ bytes: inout [UInt8]) -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}
