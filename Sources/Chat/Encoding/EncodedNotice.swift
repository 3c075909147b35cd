public import Wire

/// A notice to a room's subscribers as it is sent: encoded once, for all of them on every loop.
///
/// It is in no log: whoever cannot take it at once goes without.
public struct EncodedNotice: Sendable {
    /// The room whose subscribers it is for.
    public let room: RoomID
    /// What it says.
    let content: ServerFrame
    private let frame: [UInt8]
    private let event: [UInt8]

    /// Encodes a notice.
    public init(_ content: ServerFrame, in room: RoomID) {
        self.room = room
        self.content = content
        var frame: [UInt8] = []
        PushEncoding.appendFrame(content, to: &frame)
        self.frame = frame
        var event: [UInt8] = []
        PushEncoding.appendEvent(content, to: &event)
        self.event = event
    }

    /// The notice on the wire. It is too short to be worth compressing.
    func bytes(_ format: PushFormat) -> [UInt8] {
        switch format {
        case .webSocket, .deflatedWebSocket: frame
        case .serverSentEvents: event
        }
    }
}
