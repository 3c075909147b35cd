/// A frame that the server sends on a live connection, other than a message.
///
/// The same JSON is a WebSocket text frame and the `data` of a Server-Sent Event.
public enum ServerFrame: Sendable, Hashable {
    /// The first frame of a subscription: the current state of the room.
    case subscribed(room: RoomID, head: Int64, rev: Int64, epoch: String)
    /// The end of the replay: later frames are live.
    case live(room: RoomID, rev: Int64)
    /// A frame of the client, or its request for the connection, was refused. `room` is as the client wrote it and may
    /// not be a valid room id.
    case error(Problem, room: String? = nil)
    /// A user is typing.
    case typing(room: RoomID, user: UserID)
    /// A user has read up to `seq`.
    case read(room: RoomID, user: UserID, seq: Int64)
    /// The user has blocked another user, or no longer does; for the user's own devices.
    case block(user: UserID, blocked: Bool)
    /// The user has changed what may disturb them in a room. Only the user's own connections get it.
    case notify(room: RoomID, NotifySettings)
    /// The number of users who are subscribed now.
    case presence(room: RoomID, online: Int)

    /// The bytes before a message's snapshot in a frame.
    public static let messagePrefix: StaticString = #"{"type":"message","message":"#
    /// The bytes after a message's snapshot in a frame.
    public static let messageSuffix: StaticString = "}"
    /// Number of bytes that a frame adds to its message.
    public static let messageOverhead = messagePrefix.utf8CodeUnitCount + messageSuffix.utf8CodeUnitCount

    /// Appends the frame with the message of this snapshot.
    public static func appendMessage(_ snapshot: Span<UInt8>, to out: inout [UInt8]) {
        out.append(literal: messagePrefix)
        out.append(copying: snapshot)
        out.append(literal: messageSuffix)
    }

    /// The frame's `type`, which is also the name of the Server-Sent Event.
    public var type: StaticString {
        switch self {
        case .subscribed: "subscribed"
        case .live: "live"
        case .error: "error"
        case .typing: "typing"
        case .read: "read"
        case .block: "block"
        case .notify: "notify"
        case .presence: "presence"
        }
    }

    /// Appends the frame as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"type":""#)
        out.append(literal: type)
        out.append(UInt8(ascii: "\""))
        switch self {
        case .subscribed(let room, let head, let rev, let epoch):
            out.append(member: "room", room.string)
            out.append(member: "head", head)
            out.append(member: "rev", rev)
            out.append(member: "epoch", epoch)
        case .live(let room, let rev):
            out.append(member: "room", room.string)
            out.append(member: "rev", rev)
        case .error(let problem, let room):
            out.append(member: "code", problem.code.string)
            out.append(member: "message", problem.detail)
            if let room { out.append(member: "room", room) }
            if let seconds = problem.retryAfter { out.append(member: "retry_after", Int64(seconds)) }
        case .typing(let room, let user):
            out.append(member: "room", room.string)
            out.append(member: "user", user.string)
        case .read(let room, let user, let seq):
            out.append(member: "room", room.string)
            out.append(member: "user", user.string)
            out.append(member: "seq", seq)
        case .block(let user, let blocked):
            out.append(member: "user", user.string)
            out.append(member: "blocked", blocked)
        case .notify(let room, let settings):
            out.append(member: "room", room.string)
            settings.encodeMembers(into: &out)
        case .presence(let room, let online):
            out.append(member: "room", room.string)
            out.append(member: "online", Int64(online))
        }
        out.append(UInt8(ascii: "}"))
    }
}
