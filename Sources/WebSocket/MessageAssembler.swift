/// Puts the frames of a connection together to messages (RFC 6455 §5.4): the part of a ``MessageReader`` that knows the
/// rules, and nothing of how bytes wait for their turn.
struct MessageAssembler: Sendable {
    let role: Role
    let maxMessageBytes: Int
    /// True if messages may be compressed.
    let allowsCompression: Bool
    private(set) var frameCount = 0

    /// The frame under way, and how many bytes of its payload are in.
    private var frame: FrameHeader?
    private var received = 0

    /// The message under way; nil between messages. Control frames may come in the middle of one.
    private var messageOpcode: Opcode?
    private var isCompressed = false
    private var message: [UInt8] = []
    private var utf8 = UTF8Validator()
    /// The payload of the control frame under way.
    private var control: [UInt8] = []

    init(role: Role, maxMessageBytes: Int, allowsCompression: Bool) {
        self.role = role
        self.maxMessageBytes = maxMessageBytes
        self.allowsCompression = allowsCompression
    }

    var heldBytes: Int {
        message.capacity + control.capacity
    }

    mutating func release() {
        message = []
        control = []
    }

    /// Reads `bytes` from `offset` on, up to the end of the first event. Nil when there is none: all bytes are used up
    /// then, but for an incomplete header.
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

    /// The same over an array, which as a parameter is borrowed without a copy or a retain.
    mutating func advance(
        over bytes: [UInt8], from offset: inout Int
    ) throws(WebSocketError) -> MessageReader.Event? {
        try advance(over: bytes.span, from: &offset)
    }

    private mutating func begin(_ header: FrameHeader) throws(WebSocketError) {
        frameCount &+= 1
        if !header.opcode.isControl {
            if header.opcode == .continuation {
                if messageOpcode == nil { throw .protocolError("a continuation frame continues nothing") }
            } else {
                if messageOpcode != nil { throw .protocolError("a new message begins inside a fragmented one") }
                messageOpcode = header.opcode
                isCompressed = header.rsv1
            }
            // Decided before a byte of the payload is kept.
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
        } else {
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

    /// Makes room for `count` more bytes of the message.
    ///
    /// The room grows with what has arrived, not with what a header promises: announcing a large frame gets a peer no
    /// memory, and each byte that it sends at most four. Growing by a factor keeps all copying together linear, and the
    /// message's end, where it is known, keeps the last step exact.
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
            if isCompressed { return try inflate(take(&message)) }
            guard messageOpcode == .text else { return .binary(take(&message)) }
            // Complete also means ready for the next text.
            guard utf8.isComplete else { throw .invalidUTF8(in: "a text message") }
            return .text(take(&message))
        }
    }

    /// The message that was sent as `payload`. Its text is checked now, as nothing could be told of it before.
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
