public import Wire

/// A frame that a client sends on a WebSocket.
public enum ClientFrame: Sendable, Hashable {
    /// Subscribes to a room, with a replay from `since` if it is given. `epoch` is the history that the client knows,
    /// if it names one without `since`.
    case subscribe(room: RoomID, since: SincePosition?, epoch: String? = nil)
    /// Subscribes to all rooms that the caller is a member of or joins later, each without a replay. `epoch` is the
    /// history that the client knows, if it names one.
    case subscribeMine(epoch: String? = nil)
    /// Ends the subscription to a room.
    case unsubscribe(room: RoomID)
    /// Ends the subscription of ``subscribeMine(epoch:)``.
    case unsubscribeMine
    /// Reports that the caller is typing. On a room's own socket `room` may be nil.
    case typing(room: RoomID?)
    /// Replaces the connection's token before it expires.
    case token(String)

    /// The reason why a frame is not accepted.
    public enum Refusal: Error, Sendable, Hashable {
        /// The frame is not JSON: close with 1007 (RFC 6455, section 7.4.1).
        case notJSON(Problem)
        /// The frame is JSON, but not an object: close with 1008.
        case notObject(Problem)
        /// The frame is an object that asks for something impossible: answer with an `error` frame and continue. `room`
        /// is the room as the client wrote it; nil if it is absent or longer than a room id.
        case unservable(Problem, room: String?)
    }
}
