import BackscrollTimeline
import Wire

extension JSONScanner {
    /// Reads a string; nil for a value of another kind.
    mutating func stringValue() throws(Problem) -> String? {
        guard try peek() == .string else {
            try skipValue()
            return nil
        }
        return string(try readString())
    }

    /// Reads an integer; nil for a value of another kind.
    mutating func integerValue() throws(Problem) -> Int64? {
        guard try peek() == .number else {
            try skipValue()
            return nil
        }
        return integer(try readNumber())
    }

    /// Reads `true` or `false`; nil for a value of another kind.
    mutating func booleanValue() throws(Problem) -> Bool? {
        guard try peek() == .boolean else {
            try skipValue()
            return nil
        }
        return try readBoolean()
    }

    /// Reads a range, an array of its bounds; nil for an array of another kind.
    mutating func rangeValue() throws(Problem) -> Range<Int>? {
        try enterArray()
        var bounds: [Int] = []
        while try nextElement() { if let bound = try integerValue() { bounds.append(Int(bound)) } }
        guard bounds.count == 2, bounds[0] >= 0, bounds[0] <= bounds[1] else { return nil }
        return bounds[0]..<bounds[1]
    }

    /// Reads a message.
    mutating func message() throws(Problem) -> ChatMessage {
        ChatMessage(try Message(decoding: try readCompact().bytes))
    }
}

/// The fields of a JSON object in an answer or a frame, by kind.
struct JSONFields {
    private(set) var strings: [String: String] = [:]
    private(set) var integers: [String: Int64] = [:]
    private(set) var booleans: [String: Bool] = [:]
    private(set) var message: ChatMessage?
    /// What may disturb in a room, and the profile of a member.
    private(set) var objects: [String: JSONFields] = [:]
    /// The app's own data, compact.
    private(set) var data: [UInt8] = []
    private(set) var messages: [ChatMessage] = []
    /// The ids in a list of users.
    private(set) var users: [String] = []
    /// The elements of a list of rooms, members, read marks, blocks, profiles or hits.
    private(set) var elements: [JSONFields] = []
    /// The places of the words in a hit.
    private(set) var highlights: [Range<Int>] = []

    /// Reads an object. Fields of other kinds are ignored, so that a newer server can add some.
    init(_ text: [UInt8]) throws(Problem) {
        var json = try JSONScanner(text)
        try self.init(&json)
        try json.finish()
    }

    init(_ json: inout JSONScanner) throws(Problem) {
        try json.enterObject()
        while let token = try json.nextName() {
            let name = json.string(token)
            switch (try json.peek(), name) {
            case (.string, _): strings[name] = try json.stringValue()
            case (.number, _): integers[name] = try json.integerValue()
            case (.boolean, _): booleans[name] = try json.booleanValue()
            case (.object, "message"), (.object, "last_message"): message = try json.message()
            case (.object, "notify"), (.object, "profile"): objects[name] = try JSONFields(&json)
            case (.object, "data"): data = try json.readCompact().bytes
            case (.array, "messages"):
                try json.enterArray()
                while try json.nextElement() { messages.append(try json.message()) }
            case (.array, "users"):
                try json.enterArray()
                while try json.nextElement() { if let user = try json.stringValue() { users.append(user) } }
            case (.array, "highlights"):
                try json.enterArray()
                while try json.nextElement() { if let range = try json.rangeValue() { highlights.append(range) } }
            case (.array, "rooms"), (.array, "members"), (.array, "reads"), (.array, "blocks"), (.array, "profiles"),
                (.array, "hits"):
                try json.enterArray()
                while try json.nextElement() { elements.append(try JSONFields(&json)) }
            default: try json.skipValue()
            }
        }
    }
}

/// A frame of the server.
enum ServerEvent {
    case subscribed(room: String, head: Int64?, rev: Int64?, epoch: String?)
    case message(ChatMessage)
    case live(room: String, rev: Int64?)
    case typing(room: String, user: String)
    case read(room: String, user: String, seq: Int64)
    case presence(room: String, online: Int64)
    /// The user has blocked another user, or has ended that.
    case block(user: String, isBlocked: Bool)
    case notify(room: String, NotifySettings)
    case error(BackscrollClientError, room: String?)
    case unknown

    /// Reads a frame.
    init(_ text: [UInt8]) throws(Problem) {
        let prefix = ServerFrame.messagePrefix
        let isMessage = prefix.withUTF8Buffer { text.count > $0.count && text.starts(with: $0) }
        if isMessage {
            // Most frames are messages. The message is read directly, without a copy of each field.
            self = .message(
                ChatMessage(try Message(decoding: Array(text[prefix.utf8CodeUnitCount..<text.count - 1]))))
            return
        }
        let fields = try JSONFields(text)
        let strings = fields.strings
        switch (strings["type"], strings["room"]) {
        case ("message", _):
            self = fields.message.map(ServerEvent.message) ?? .unknown
        case ("error", let room):
            self = .error(
                BackscrollClientError(
                    ofSocket: strings["code"] ?? BackscrollClientError.invalidAnswer,
                    message: strings["message"] ?? "", retryAfter: fields.integers["retry_after"].map(Double.init)),
                room: room)
        case ("subscribed", let room?):
            let integers = fields.integers
            self = .subscribed(
                room: room, head: integers["head"], rev: integers["rev"], epoch: strings["epoch"])
        case ("live", let room?):
            self = .live(room: room, rev: fields.integers["rev"])
        case ("typing", let room?):
            self = .typing(room: room, user: strings["user"] ?? "")
        case ("read", let room?):
            self = .read(room: room, user: strings["user"] ?? "", seq: fields.integers["seq"] ?? 0)
        case ("presence", let room?):
            self = .presence(room: room, online: fields.integers["online"] ?? 0)
        case ("block", _):
            self = .block(user: strings["user"] ?? "", isBlocked: fields.booleans["blocked"] ?? false)
        case ("notify", let room?):
            self = NotifySettings(fields).map { .notify(room: room, $0) } ?? .unknown
        default:
            self = .unknown
        }
    }

    /// The room that the frame belongs to; nil if only the list of rooms or the client takes it.
    var room: String? {
        switch self {
        case .message(let message): message.room
        case .subscribed(let room, _, _, _), .live(let room, _), .typing(let room, _), .read(let room, _, _),
            .presence(let room, _):
            room
        case .error(_, let room): room
        case .block, .notify, .unknown: nil
        }
    }

    /// The frame in the form of the timeline's events.
    var frame: RoomMachine.Frame {
        switch self {
        case .subscribed(let room, let head, _, let epoch): .init(.subscribed(head: head), room: room, epoch: epoch)
        case .message(let message): .init(.message(message), room: message.room)
        case .live(let room, let rev): .init(.live(rev: rev), room: room)
        case .typing(let room, let user): .init(.typing(user: user), room: room)
        case .read(let room, let user, let seq): .init(.read(user: user, seq: seq), room: room)
        case .presence(let room, let online): .init(.presence(online: online), room: room)
        case .error(let error, let room): .init(.error(code: error.code), room: room)
        case .block, .notify, .unknown: .init(.unknown)
        }
    }
}

extension BackscrollClientError {
    /// Creates the error of a frame or a close reason. Its status is that of an answer with the same code.
    init(ofSocket code: String, message: String, retryAfter: Double? = nil) {
        self.init(
            code: code, message: message, status: Problem.Code(rawValue: code)?.status ?? 0, retryAfter: retryAfter)
    }

    /// Creates the error of an answer with a status outside 200 to 299.
    init(_ response: TransportResponse) {
        let fields = try? JSONFields(response.body)
        self.init(
            code: fields?.strings["code"] ?? "http_\(response.status)",
            message: fields?.strings["detail"] ?? "The server answered with status \(response.status).",
            status: response.status, field: fields?.strings["field"], limit: fields?.integers["limit"].map(Int.init),
            head: fields?.integers["head"], retryAfter: response.retryAfter)
    }

    /// The failure in the form of the timeline's events.
    var failure: RoomMachine.Failure {
        .init(status: status, code: code, retryAfter: retryAfter)
    }
}

/// The claims of a JSON Web Token that a client needs. The server checks the token; the client only reads it.
struct TokenClaims {
    /// The user's id.
    var user: String
    /// The time of the token's expiry in seconds since 1970; nil if it does not expire.
    var expiry: Int64?

    /// Reads a token; nil if it names no user.
    init?(_ token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Self.decode(parts[1]), let fields = try? JSONFields(payload),
            let user = fields.strings["sub"]
        else { return nil }
        self.user = user
        expiry = fields.integers["exp"]
    }

    /// Decodes base64url without padding (RFC 4648, section 5).
    private static func decode(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for character in text.utf8 {
            let value: UInt8
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0") + 52
            case UInt8(ascii: "-"): value = 62
            case UInt8(ascii: "_"): value = 63
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}
