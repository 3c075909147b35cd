import WebSocket
public import Wire

/// The encoding of pushes: one WebSocket frame or event for each message or notice.
public enum PushEncoding {
    /// Upper bound of the bytes that a frame adds to a snapshot.
    static let frameOverhead = FrameHeader.maxEncodedLength + ServerFrame.messageOverhead

    /// Appends a message as an unmasked WebSocket text frame (RFC 6455, section 5.2).
    public static func appendFrame(_ snapshot: Span<UInt8>, to frames: inout [UInt8]) {
        FrameHeader.appendText(payloadLength: snapshot.count + ServerFrame.messageOverhead, into: &frames)
        ServerFrame.appendMessage(snapshot, to: &frames)
    }

    /// Appends a notice as an unmasked WebSocket text frame.
    public static func appendFrame(_ notice: ServerFrame, to frames: inout [UInt8]) {
        var json: [UInt8] = []
        notice.encode(into: &json)
        Frame.append(.text, payload: json.span, into: &frames)
    }

    /// Appends a message as a Server-Sent Event. Its id lets an EventSource resume after it.
    public static func appendEvent(_ snapshot: Span<UInt8>, epoch: String, rev: Int64, to events: inout [UInt8]) {
        events.append(literal: "event: message\nid: ")
        events.append(utf8: epoch)
        events.append(UInt8(ascii: ":"))
        events.append(decimal: rev)
        events.append(literal: "\ndata: ")
        ServerFrame.appendMessage(snapshot, to: &events)
        events.append(literal: "\n\n")
    }

    /// Appends a notice as a Server-Sent Event (WHATWG HTML, section 9.2). JSON has no line breaks, so one data line
    /// suffices.
    ///
    /// - Parameter id: The event's id, without line breaks; `nil` leaves the EventSource's id unchanged.
    public static func appendEvent(_ notice: ServerFrame, id: String? = nil, to events: inout [UInt8]) {
        events.append(literal: "event: ")
        events.append(literal: notice.type)
        if let id {
            events.append(literal: "\nid: ")
            events.append(utf8: id)
        }
        events.append(literal: "\ndata: ")
        notice.encode(into: &events)
        events.append(literal: "\n\n")
    }
}

/// Compresses messages for subscribers that have negotiated compression (RFC 7692).
///
/// Each message is compressed by itself, so its bytes are the same for all subscribers. Use one deflater for each
/// thread.
public final class PushDeflater {
    /// The base-2 logarithm of the compression window, which sockets must accept.
    public static let windowBits = Deflater.defaultWindowBits
    /// Minimum size in bytes of the JSON to compress. Shorter messages would shrink by less than a tenth.
    public static let minimumBytes = 100

    private var deflater = Deflater()
    private var json: [UInt8] = []
    private var payload: [UInt8] = []

    /// Creates a deflater, which takes about 40 KiB.
    public init() {}

    /// Appends a message as an unmasked text frame, compressed if that makes it shorter.
    public func appendFrame(_ snapshot: Span<UInt8>, to frames: inout [UInt8]) {
        guard snapshot.count + ServerFrame.messageOverhead >= Self.minimumBytes else {
            return PushEncoding.appendFrame(snapshot, to: &frames)
        }
        json.removeAll(keepingCapacity: true)
        ServerFrame.appendMessage(snapshot, to: &json)
        let message = json
        payload.removeAll(keepingCapacity: true)
        deflater.append(message.span, to: &payload)
        let deflated = payload
        guard deflated.count < message.count else { return PushEncoding.appendFrame(snapshot, to: &frames) }
        Frame.append(.text, payload: deflated.span, rsv1: true, into: &frames)
    }
}
