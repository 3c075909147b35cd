/// Parses received bytes into messages and control frames (RFC 6455 §5, §6.2).
///
/// After each ``append(_:)``, call ``next()`` until it needs more bytes:
///
///     reader.append(received)
///     while true {
///         switch try reader.next() {
///         case .needMoreBytes: return
///         case .text(let bytes): …
///         }
///     }
///
/// The payload is copied from the received bytes straight into the message's own memory. There it is unmasked and
/// checked for UTF-8 as it arrives, so bad text is refused at its first invalid byte, however frames and reads are
/// split. A compressed message (RFC 7692) is decompressed and checked once it is complete. Between messages a reader
/// holds no heap memory.
public struct MessageReader: Sendable {
    /// The result of ``next()``.
    public enum Event: Equatable, Sendable {
        /// No further event until ``append(_:)`` adds bytes. After a ``close(code:reason:)``, the only event.
        case needMoreBytes
        /// A complete text message in valid UTF-8.
        case text([UInt8])
        /// A complete binary message.
        case binary([UInt8])
        /// A ping. Answer it with a pong of the same bytes (§5.5.3).
        case ping([UInt8])
        /// A pong, solicited or not.
        case pong([UInt8])
        /// The peer's Close frame. `code` is nil if the frame has none; `reason` is valid UTF-8. All later bytes are
        /// ignored (§1.4).
        case close(code: CloseCode?, reason: [UInt8])
    }

    private enum State {
        case reading
        case closed
        case failed(WebSocketError)
    }

    private var state = State.reading
    private var assembler: MessageAssembler
    /// The first event of the last append, found before the bytes after it had to be stored.
    private var ready: Event?
    /// The unread bytes: those after `ready`, or the first part of a header.
    private var inbox: [UInt8] = []
    /// Number of consumed bytes of `inbox`.
    private var inboxStart = 0

    /// Creates a reader at the start of a connection.
    ///
    /// - Parameters:
    ///   - role: the reading end.
    ///   - maxMessageBytes: maximum payload of a message in bytes, over all its frames. A frame that would exceed it is
    ///     refused with 1009 once its header is read, a compressed message once its decompressed size exceeds it.
    ///   - allowsCompression: True if ``PerMessageDeflate`` was negotiated, so that messages may be compressed.
    public init(role: Role, maxMessageBytes: Int, allowsCompression: Bool = false) {
        precondition(maxMessageBytes >= 0)
        assembler = MessageAssembler(
            role: role, maxMessageBytes: maxMessageBytes, allowsCompression: allowsCompression)
    }

    /// Number of frame headers of any kind read so far. Its growth is the peer's frame rate, which includes fragments
    /// that are not yet an event.
    public var frameCount: Int { assembler.frameCount }

    /// Number of bytes of heap memory that the reader holds; 0 between messages.
    public var heldBytes: Int { inbox.capacity + assembler.heldBytes }

    /// True if bytes were received that ``next()`` has not read, which may be the first part of a frame.
    public var hasUnreadBytes: Bool { ready != nil || !inbox.isEmpty }

    /// Drops all messages that have not been returned by ``next()``, without storing or decompressing them. The peer's
    /// control frames are still returned: a side that has sent its Close frame only waits for the other one (§7.1.2).
    public mutating func dropMessages() {
        assembler.dropMessages()
    }

    /// Adds received bytes. They are copied where they must be kept.
    public mutating func append(_ bytes: Span<UInt8>) {
        guard isReading else { return }
        var offset = 0
        if ready == nil, !inbox.isEmpty {
            // The inbox holds part of a header, or frames not yet asked for. Add only enough bytes to complete a
            // header, so that the payload after it is not copied through the inbox.
            let missing = FrameHeader.maxEncodedLength - (inbox.count - inboxStart)
            offset = min(max(missing, 0), bytes.count)
            inbox.append(copying: bytes.extracting(..<offset))
            readInbox()
        }
        if isReading, ready == nil, inbox.isEmpty {
            read(bytes, at: &offset)
        }
        guard isReading else { return }
        inbox.append(copying: bytes.extracting(offset...))
    }

    /// Returns the next event among the bytes received so far.
    ///
    /// - Throws: the rule that the peer broke, after all events before it. Later calls throw the same error. The caller
    ///   must then fail the connection.
    public mutating func next() throws(WebSocketError) -> Event {
        if ready == nil, !inbox.isEmpty {
            readInbox()
        }
        if let event = ready {
            ready = nil
            return event
        }
        if case .failed(let error) = state { throw error }
        return .needMoreBytes
    }

    /// True until an error or a Close frame was read.
    private var isReading: Bool {
        if case .reading = state { true } else { false }
    }

    private mutating func read(_ bytes: Span<UInt8>, at offset: inout Int) {
        do throws(WebSocketError) {
            ready = try assembler.advance(over: bytes, from: &offset)
            if case .close = ready { stop(.closed) }
        } catch {
            stop(.failed(error))
        }
    }

    private mutating func readInbox() {
        do throws(WebSocketError) {
            ready = try assembler.advance(over: inbox, from: &inboxStart)
            if case .close = ready { stop(.closed) }
        } catch {
            stop(.failed(error))
        }
        if inboxStart == inbox.count {
            inbox = []
            inboxStart = 0
        } else if ready == nil {
            // Copy the rest of a header, at most 13 bytes, to free the memory of the whole read.
            inbox = Array(inbox[inboxStart...])
            inboxStart = 0
        }
    }

    private mutating func stop(_ end: State) {
        state = end
        inbox = []
        inboxStart = 0
        assembler.release()
    }
}
