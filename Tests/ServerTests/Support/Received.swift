import FoundationEssentials

/// Decodes JSON with another parser than the server's own.
func decode<T: Decodable>(_ bytes: [UInt8], as type: T.Type = T.self) throws -> T {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(T.self, from: Data(bytes))
}

/// A message as a client reads it.
struct ReceivedMessage: Decodable, Equatable {
    struct Attachment: Decodable, Equatable {
        var type: String
        var url: String
        var width: Int?
        var height: Int?
        var mime: String?
        var size: Int?
        var title: String?
        var description: String?
        var thumbhash: String?
    }

    struct Reaction: Decodable, Equatable {
        var key: String
        var count: Int
        var users: [String]
    }

    var room: String
    var seq: Int64
    var rev: Int64
    var sender: String
    var clientMessageId: String?
    var text: String?
    var attachments: [Attachment]?
    var replyTo: Int64?
    var reactions: [Reaction]?
    var createdAt: String
    var editedAt: String?
    var deleted: Bool?
}

/// A page as a client reads it.
struct ReceivedPage: Decodable {
    var messages: [ReceivedMessage]
    var hasBefore: Bool
    var hasAfter: Bool
    var head: Int64
    var rev: Int64
    var epoch: String
    var read: Int64?
    var unread: Int64?
    var firstUnread: Int64?

    var seqs: [Int64] { messages.map(\.seq) }
}

/// An answer to `changes` as a client reads it.
struct ReceivedChanges: Decodable {
    var messages: [ReceivedMessage]
    var rev: Int64
    var hasMore: Bool
    var epoch: String
}

/// A room as a client reads it.
struct ReceivedRoom: Decodable, Equatable {
    var room: String
    var head: Int64
    var rev: Int64
    var epoch: String
    var read: Int64?
    var unread: Int64?
    var firstUnread: Int64?
    var visibility: String?
    var title: String?
    var role: String?
    var lastMessage: ReceivedMessage?
}

/// A list of a user's rooms as a client reads it.
struct ReceivedInbox: Decodable {
    var rooms: [ReceivedRoom]
    var hasMore: Bool
    var cursor: String?
    var epoch: String

    var ids: [String] { rooms.map(\.room) }
}

/// A refusal as a client reads it.
struct ReceivedProblem: Decodable, Equatable {
    var type: String
    var title: String
    var status: Int
    var code: String
    var detail: String
    var field: String?
    var limit: Int?
}

/// A frame of a subscription as a client reads it.
struct ReceivedFrame: Decodable {
    /// The content in addition to the type.
    enum Content {
        case subscribed(ReceivedRoom)
        case message(ReceivedMessage)
        case live(room: String, rev: Int64)
        case error(code: String, room: String?)
        case typing(room: String, user: String)
        case presence(room: String, online: Int)
        case read(room: String, user: String, seq: Int64)
        case other
    }

    private enum CodingKeys: String, CodingKey {
        case type, room, rev, message, code, user, online, seq
    }

    var type: String
    var content: Content

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        type = try fields.decode(String.self, forKey: .type)
        switch type {
        case "subscribed":
            content = .subscribed(try ReceivedRoom(from: decoder))
        case "message":
            content = .message(try fields.decode(ReceivedMessage.self, forKey: .message))
        case "live":
            content = .live(
                room: try fields.decode(String.self, forKey: .room), rev: try fields.decode(Int64.self, forKey: .rev))
        case "error":
            _ = try fields.decode(String.self, forKey: .message)
            content = .error(
                code: try fields.decode(String.self, forKey: .code),
                room: try fields.decodeIfPresent(String.self, forKey: .room))
        case "typing":
            content = .typing(
                room: try fields.decode(String.self, forKey: .room), user: try fields.decode(String.self, forKey: .user)
            )
        case "presence":
            content = .presence(
                room: try fields.decode(String.self, forKey: .room),
                online: try fields.decode(Int.self, forKey: .online))
        case "read":
            content = .read(
                room: try fields.decode(String.self, forKey: .room),
                user: try fields.decode(String.self, forKey: .user),
                seq: try fields.decode(Int64.self, forKey: .seq))
        default:
            content = .other
        }
    }

    /// The room, if this is the first frame of a subscription.
    var room: ReceivedRoom? { if case .subscribed(let room) = content { room } else { nil } }
    /// The message, if this is a message frame.
    var message: ReceivedMessage? { if case .message(let message) = content { message } else { nil } }
    /// The revision at the end of the replay, if this is a live frame.
    var liveRev: Int64? { if case .live(_, let rev) = content { rev } else { nil } }
    /// The user, if this is a typing frame.
    var typist: String? { if case .typing(_, let user) = content { user } else { nil } }
    /// The number of subscribers, if this is a presence frame.
    var online: Int? { if case .presence(_, let online) = content { online } else { nil } }
    /// The code, if this is an error frame.
    var errorCode: String? { if case .error(let code, _) = content { code } else { nil } }
}
