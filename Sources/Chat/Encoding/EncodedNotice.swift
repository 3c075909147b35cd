public import Wire

/// A notice to a room's subscribers, encoded once for every subscriber on every loop.
///
/// It is not stored. A subscriber that cannot receive it at once misses it.
public struct EncodedNotice: Sendable {
    /// The room whose subscribers receive it.
    public let room: RoomID
    /// The only user whose subscribers receive it; `nil` for all subscribers.
    let recipient: UserID?
    let content: ServerFrame
    private let frame: [UInt8]
    private let event: [UInt8]

    /// Encodes a notice for all subscribers of a room, or for those of one user.
    public init(_ content: ServerFrame, in room: RoomID, only recipient: UserID? = nil) {
        self.room = room
        self.recipient = recipient
        self.content = content
        var frame: [UInt8] = []
        PushEncoding.appendFrame(content, to: &frame)
        self.frame = frame
        var event: [UInt8] = []
        PushEncoding.appendEvent(content, to: &event)
        self.event = event
    }

    /// Returns the notice in a format. It is too short to be worth compressing.
    func bytes(_ format: PushFormat) -> [UInt8] {
        switch format {
        case .webSocket, .deflatedWebSocket: frame
        case .serverSentEvents: event
        }
    }
}

/// A frame to the sockets that follow a user's rooms, on all of the user's devices. It is not stored.
public struct OwnNotice: Sendable, Hashable {
    /// The user.
    public let user: UserID
    /// The frame, a JSON object without spaces.
    public let json: [UInt8]

    /// Encodes a frame.
    public init(_ frame: ServerFrame, of user: UserID) {
        var json: [UInt8] = []
        frame.encode(into: &json)
        self.init(user: user, json: json)
    }

    init(user: UserID, json: [UInt8]) {
        self.user = user
        self.json = json
    }
}
