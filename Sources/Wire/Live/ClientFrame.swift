/// What a client says on a WebSocket.
public enum ClientFrame: Sendable, Hashable {
    /// Subscribe to a room: from now on, or from what the client has. `epoch` is the history that the client knows, if
    /// it says so without saying from where.
    case subscribe(room: RoomID, since: SincePosition?, epoch: String? = nil)
    /// Subscribe to all rooms that the caller is a member of, now or later, each from then on. `epoch` is the history
    /// that the client knows, if it says so.
    case subscribeMine(epoch: String? = nil)
    /// End the subscription to a room.
    case unsubscribe(room: RoomID)
    /// End what ``subscribeMine(epoch:)`` has begun.
    case unsubscribeMine
    /// The caller is writing. On a room's own socket the room goes without saying.
    case typing(room: RoomID?)
    /// A new token for the connection, before the old one expires.
    case token(String)

    /// The reason why a frame is not served.
    public enum Refusal: Error, Sendable, Hashable {
        /// It is not JSON at all: close with 1007 (RFC 6455, section 7.4.1).
        case notJSON(Problem)
        /// It is JSON, but no object: close with 1008.
        case notObject(Problem)
        /// It is an object that asks for what cannot be: answer with an `error` frame and go on. `room` is as the
        /// client wrote it, if it did and if it is no longer than a room id.
        case unservable(Problem, room: String?)

        /// What is wrong.
        public var problem: Problem {
            switch self {
            case .notJSON(let problem), .notObject(let problem), .unservable(let problem, _): problem
            }
        }
    }
}
