import WebSocket
import Wire

/// Iterates over the frames that a server sends, and passes on each whole message as a view of the received bytes.
///
/// A load test must receive messages faster than ``MessageReader``, which allocates memory for each message and checks
/// its UTF-8. This type passes views, and copies only what a read has split. It checks the framing (RFC 6455 §5.2, as a
/// client). Compression is never negotiated, so RSV1 is an error too.
struct FrameWalker: Sendable {
    /// The event that a frame completes.
    enum Event: Equatable, Sendable {
        /// A text or binary message, passed with its payload.
        case message
        /// A ping, passed with its payload for the pong.
        case ping
        /// A Close frame, passed with its payload.
        case close
    }

    /// Maximum size of a message: 16 MiB. More is an error, so that a broken length does not exhaust memory.
    static let maxMessageBytes = 16 << 20
    /// Maximum capacity kept of the buffer for split messages, in bytes. Each subscriber has one such buffer.
    static let keptCapacity = 4096

    /// The incomplete header or frame at the end of the received bytes.
    private(set) var cut: [UInt8] = []
    /// The fragments of an incomplete message (RFC 6455 §5.4).
    private(set) var fragments: [UInt8]?

    /// Reads received bytes. Calls `body` with each event that they complete and its payload.
    ///
    /// - Throws: the rule that the server broke. The caller must then fail the connection.
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
                cut.append(copying: bytes.extracting(start...))
                return
            }
            try check(header)
            guard bytes.count - offset >= header.payloadLength else {
                cut.append(copying: bytes.extracting(start...))
                return
            }
            try take(header, bytes.extracting(offset..<offset + header.payloadLength), body)
            offset += header.payloadLength
        }
    }

    /// Completes the frame that `cut` begins.
    ///
    /// - Returns: the number of bytes used.
    private mutating func complete(
        with bytes: Span<UInt8>, _ body: (Event, Span<UInt8>) -> Void
    ) throws(WebSocketError) -> Int {
        var used = 0
        while true {
            var payloadStart = 0
            let header = try FrameHeader.decode(from: cut.span, at: &payloadStart, role: .client)
            if let header { try check(header) }
            // Without a whole header, at least one more byte is missing.
            let missing = header.map { payloadStart + $0.payloadLength - cut.count } ?? 1
            let added = min(missing, bytes.count - used)
            cut.append(copying: bytes.extracting(used..<used + added))
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
                fragments = [UInt8](copying: payload)
            }
        case .continuation:
            guard var message = fragments else {
                throw WebSocketError(closeCode: .protocolError, reason: "there is no message to continue")
            }
            fragments = nil
            message.append(copying: payload)
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
}
