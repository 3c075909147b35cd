import Chat
import Wire

/// A segment that varies in the path of a ``Route``, written `{room}`.
enum Placeholder: String, Sendable {
    case room, user, seq, key, name, webhook
    case clientMessageID = "client_message_id"
}

/// The values of a path's placeholders. Those that the path does not have are `nil`.
struct PathValues: Equatable {
    private(set) var room: RoomID?
    private(set) var user: UserID?
    private(set) var seq: Int64?
    private(set) var key: ReactionKey?
    private(set) var webhook: WebhookID?
    /// The name of a file, or a client's id of a message.
    private(set) var text: String?

    /// Reads the value of a placeholder.
    ///
    /// - Throws: 400 when it is not a valid room id, user id, `seq`, reaction key or id of a webhook.
    mutating func read(_ segment: String, as placeholder: Placeholder) throws(Problem) {
        switch placeholder {
        case .room: room = try RoomID(segment)
        case .user: user = try UserID(segment)
        case .seq: seq = try Self.seq(segment)
        case .key: key = try ReactionKey(segment)
        case .webhook: webhook = try WebhookID(segment)
        case .name, .clientMessageID: text = segment
        }
    }

    private static func seq(_ text: String) throws(Problem) -> Int64 {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            throw .invalidField("seq", must: "a decimal number")
        }
        // No message has a number this large, so the lookup finds none.
        return Int64(text) ?? .max
    }
}
