import WebSocket
public import Wire

/// What is pushed, as bytes on the wire: one frame or event for each message or notice.
public enum PushEncoding {
    /// How much longer a message's frame is than its snapshot, at most.
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

    /// Appends a message as a Server-Sent Event, whose id lets an EventSource go on behind it.
    public static func appendEvent(_ snapshot: Span<UInt8>, epoch: String, rev: Int64, to events: inout [UInt8]) {
        events.append(literal: "event: message\nid: ")
        events.append(utf8: epoch)
        events.append(UInt8(ascii: ":"))
        events.append(decimal: rev)
        events.append(literal: "\ndata: ")
        ServerFrame.appendMessage(snapshot, to: &events)
        events.append(literal: "\n\n")
    }

    /// Appends a notice as a Server-Sent Event (WHATWG HTML, section 9.2): JSON has no line breaks, so it is one line.
    ///
    /// - Parameter id: the event's id, without line breaks; `nil` leaves an EventSource at the id that it has.
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
