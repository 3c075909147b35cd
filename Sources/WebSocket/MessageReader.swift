/// Turns received bytes into messages and control frames (RFC 6455 §5, §6.2).
///
/// After each ``append(_:)`` call ``next()`` until it needs more bytes:
///
///     reader.append(received)
///     while true {
///         switch try reader.next() {
///         case .needMoreBytes: return
///         case .text(let bytes): …
///         }
///     }
///
/// The payload of a message goes from the received bytes straight into the message's own memory, is unmasked there and
/// checked for UTF-8 as it comes, so that bad text is refused at its first impossible byte, wherever frames and reads
/// are cut. A compressed message (RFC 7692) is decompressed and checked when all of it is there. Between messages a
/// reader holds no heap memory.
public struct MessageReader: Sendable {
    /// What ``next()`` found.
    public enum Event: Equatable, Sendable {
        /// Nothing more until ``append(_:)`` brings bytes; also all there is after a ``close(code:reason:)``.
        case needMoreBytes
        /// A whole message of valid UTF-8.
        case text([UInt8])
        /// A whole message of bytes.
        case binary([UInt8])
        /// A ping: to be answered with a pong of the same bytes (§5.5.3).
        case ping([UInt8])
        /// A pong, asked for or not.
        case pong([UInt8])
        /// The peer closes. Without a code in the frame `code` is nil; `reason` is valid UTF-8. Whatever follows on the
        /// connection is ignored (§1.4).
        case close(code: CloseCode?, reason: [UInt8])
    }

    private enum State {
        case reading
        case closed
        case failed(WebSocketError)
    }

    private var state = State.reading
    private var assembler: MessageAssembler
    /// The first event of the last append, found before the bytes behind it had to be kept.
    private var ready: Event?
    /// Bytes not yet read: what stands behind `ready`, or the first part of a header.
    private var inbox: [UInt8] = []
    /// The number of bytes of `inbox` are used up.
    private var inboxStart = 0

    /// A reader at the start of a connection.
    ///
    /// - Parameters:
    ///   - role: the reading end.
    ///   - maxMessageBytes: the most bytes of payload that a message may have, over all of its frames. A frame that
    ///     would go past it is refused with 1009 as soon as its header is there, and so is a compressed message as soon
    ///     as it has become longer.
    ///   - allowsCompression: whether ``PerMessageDeflate`` was agreed on, so that messages may be compressed.
    public init(role: Role, maxMessageBytes: Int, allowsCompression: Bool = false) {
        precondition(maxMessageBytes >= 0)
        assembler = MessageAssembler(
            role: role, maxMessageBytes: maxMessageBytes, allowsCompression: allowsCompression)
    }

    /// The number of frame headers that were read so far, of any kind: its growth is the peer's rate of frames,
    /// fragments that are not yet an event included.
    public var frameCount: Int {
        assembler.frameCount
    }

    /// The bytes of heap memory that the reader holds now; 0 between messages.
    public var heldBytes: Int {
        inbox.capacity + assembler.heldBytes
    }

    /// Takes the next bytes from the connection. They are not kept by reference.
    public mutating func append(_ bytes: Span<UInt8>) {
        guard isReading else { return }
        var offset = 0
        if ready == nil, !inbox.isEmpty {
            // The inbox starts with part of a header, or with frames that nobody has asked for yet. Bring just what
            // completes a header, so that a payload behind it need not pass through here.
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

    /// The next event among the bytes so far.
    ///
    /// - Throws: the rule that the peer broke, after all events that came before it; the same again if asked again. The
    ///   connection is then to be failed.
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

    /// True if neither an error nor a Close frame was read.
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
            // Part of a header is left, at most 13 bytes: they need not keep the memory of a whole read.
            inbox = Array(inbox[inboxStart...])
            inboxStart = 0
        }
    }

    /// Nothing more will be read.
    private mutating func stop(_ end: State) {
        state = end
        inbox = []
        inboxStart = 0
        assembler.release()
    }
}
