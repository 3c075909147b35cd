import Chat
import WebSocket
import Wire

/// Puts together what subscribers of one room get of one commit: the messages, framed.
struct BatchBuilder {
    private(set) var batch: Batch

    /// A batch that begins with this message.
    init(_ id: RoomID, _ body: [UInt8], _ room: RoomTable.Room) {
        batch = Batch(room: id, firstRev: room.rev, head: room.head, frames: [], ends: [])
        append(body, room)
    }

    /// Adds the message of the room's next revision.
    mutating func append(_ body: [UInt8], _ room: RoomTable.Room) {
        PushEncoding.appendFrame(body.span, to: &batch.frames)
        batch.ends.append(batch.frames.count)
        batch.head = room.head
    }
}

/// A message as subscribers get it.
enum PushEncoding {
    /// Appends the message's WebSocket frame.
    static func appendFrame(_ body: Span<UInt8>, to frames: inout [UInt8]) {
        FrameHeader.appendText(payloadLength: body.count + ServerFrame.messageOverhead, into: &frames)
        ServerFrame.appendMessage(body, to: &frames)
    }

    /// Appends the message's event.
    static func appendEvent(_ body: Span<UInt8>, epoch: String, rev: Int64, to events: inout [UInt8]) {
        var json: [UInt8] = []
        ServerFrame.appendMessage(body, to: &json)
        EventEncoding.append("message", id: (epoch, rev), data: json.span, to: &events)
    }
}
