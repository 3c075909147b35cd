import WebSocket

/// Walks over the frames that a server sends, and shows each whole message where it lies in the received bytes.
///
/// A load test receives over a million messages a second on one core. ``MessageReader`` gives each message memory of
/// its own and checks its UTF-8; this gives out views of what was received, and copies only what a read has cut. What
/// is checked is framing (RFC 6455 §5.2, as a client); compression is never negotiated, so RSV1 is an error too.
struct FrameWalker: Sendable {
    /// What was found.
    enum Event: Equatable, Sendable {
        /// A text or binary message; its payload is passed along.
        case message
        /// A ping; its payload is passed along, for the pong.
        case ping
        /// A Close frame; its payload is passed along.
        case close
    }

    /// The most bytes of a message: 16 MiB. More is an error, so that a broken length does not fill the memory.
    static let maxMessageBytes = 16 << 20
    /// What is kept of the memory for cut messages, in bytes. There is one such buffer for each subscriber.
    static let keptCapacity = 4096

    /// A header, or a frame's header and payload, whose end is still to come.
    private var cut: [UInt8] = []
    /// The fragments so far of a message that is not complete (RFC 6455 §5.4).
    private var fragments: [UInt8]?

    init() {}

    /// The bytes that wait for the rest of their frame or message.
    var heldBytes: Int { cut.count + (fragments?.count ?? 0) }

    /// Takes what was received, and calls `body` with each event that it completes and the event's payload.
    ///
    /// - Throws: the rule that the server broke. The connection is then to be failed.
    mutating func walk(
        _ bytes: Span<UInt8>, _ body: (Event, Span<UInt8>) -> Void
    ) throws(WebSocketError) {
        var offset = 0
        if !cut.isEmpty {
            offset = try complete(with: bytes, body)
            if !cut.isEmpty { return }
        }
        while offset < bytes.count {
            let start = offset
            guard let header = try FrameHeader.decode(from: bytes, at: &offset, role: .client) else {
                keep(bytes.extracting(start...))
                return
            }
            try check(header)
            guard bytes.count - offset >= header.payloadLength else {
                keep(bytes.extracting(start...))
                return
            }
            try take(header, bytes.extracting(offset..<offset + header.payloadLength), body)
            offset += header.payloadLength
        }
    }

    /// Completes the frame of which `cut` is the beginning.
    ///
    /// - Returns: how many bytes were used.
    private mutating func complete(
        with bytes: Span<UInt8>, _ body: (Event, Span<UInt8>) -> Void
    ) throws(WebSocketError) -> Int {
        var used = 0
        while true {
            var payloadStart = 0
            let header = try FrameHeader.decode(from: cut.span, at: &payloadStart, role: .client)
            if let header { try check(header) }
            // Without a whole header, one more byte is certainly missing.
            let missing = header.map { payloadStart + $0.payloadLength - cut.count } ?? 1
            let added = min(missing, bytes.count - used)
            append(bytes.extracting(used..<used + added), to: &cut)
            used += added
            guard added == missing else { return used }
            guard let header else { continue }
            var frame: [UInt8] = []
            swap(&frame, &cut)
            try take(header, frame.span.extracting(payloadStart...), body)
            if frame.capacity <= Self.keptCapacity {
                frame.removeAll(keepingCapacity: true)
                cut = frame
            }
            return used
        }
    }

    private func check(_ header: FrameHeader) throws(WebSocketError) {
        guard header.payloadLength + (fragments?.count ?? 0) <= Self.maxMessageBytes else {
            throw WebSocketError(closeCode: .messageTooBig, reason: "a message has more than 16 MiB")
        }
    }

    private mutating func take(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ body: (Event, Span<UInt8>) -> Void
    ) throws(WebSocketError) {
        switch header.opcode {
        case .text, .binary:
            guard fragments == nil else {
                throw WebSocketError(closeCode: .protocolError, reason: "a message begins within another")
            }
            if header.isFinal {
                body(.message, payload)
            } else {
                var first: [UInt8] = []
                append(payload, to: &first)
                fragments = first
            }
        case .continuation:
            guard var message = fragments else {
                throw WebSocketError(closeCode: .protocolError, reason: "there is no message to continue")
            }
            fragments = nil
            append(payload, to: &message)
            if header.isFinal {
                body(.message, message.span)
            } else {
                fragments = message
            }
        case .ping: body(.ping, payload)
        case .pong: break
        case .close: body(.close, payload)
        }
    }

    private mutating func keep(_ rest: Span<UInt8>) {
        append(rest, to: &cut)
    }

    private func append(_ bytes: Span<UInt8>, to array: inout [UInt8]) {
        // The pointer does not leave the call, for the whole of which `bytes` is borrowed.
        bytes.withUnsafeBufferPointer { array.append(contentsOf: $0) }
    }
}
