import Chat
import Wire

/// A line of an export: one JSON object, identified by its `type`. An export is a file of JSON lines in UTF-8 that
/// moves a history from one database to another.
///
/// The first line is `export`, the last one `end`. Between them are the `room` lines. Each is followed by the room's
/// `member` lines and then by its messages in ascending `seq`. The `read`, `block` and `profile` lines follow after all rooms. A line without
/// a `type` is a message, so the history of another program can be imported without other lines.
enum TransferLine: Sendable {
    /// `{"type":"export","version":1,"epoch":…}`: the version of the format, and the epoch of the history.
    case start(version: Int64, epoch: String?)
    /// `{"type":"room","room":…,"visibility":…,"title":…}`, with the other settings that were made; a direct room has
    /// `"direct":["alice","bob"]`, its two users.
    case room(RoomID, RoomSettings, direct: DirectPair?)
    /// `{"type":"member","room":…,"user":…,"role":…}`, with `"hidden":true` for a direct room that is not in the user's list.
    case member(RoomID, RoomMember, isHidden: Bool)
    /// `{"type":"message",…}`: a message as clients see it, but with all users of its reactions, and with `past_mentions`,
    /// those of its mentions that are of erased users.
    case message(TransferMessage)
    /// `{"type":"read","room":…,"user":…,"seq":…,"at":…}`: the read mark of a user, and when it moved there, if known.
    case read(RoomID, ReadReceipt)
    /// `{"type":"block","user":…,"blocked":…,"created_at":…}`: a user's block of another user.
    case block(Block, by: UserID)
    /// `{"type":"profile","user":…,"name":…,"avatar":…,"data":…}`: the profile of a user.
    case profile(Profile)
    /// `{"type":"notify","room":…,"user":…,"level":…}`: what may disturb a user.
    case notify(RoomID, UserID, NotifySettings)
    /// `{"type":"end","messages":N}`: the export is complete.
    case end(messages: Int64)

    /// The version of the format, the only one that imports accept.
    static let version: Int64 = 1
}

/// A message of an export.
struct TransferMessage: Sendable {
    var room: RoomID
    /// The `seq` in the room that it comes from. ``Content/replyTo`` of other lines refers to it.
    var seq: Int64?
    var sender: UserID
    /// The sender's id for the send; `nil` without one.
    var clientMessageID: String?
    /// The content; empty if the message is deleted.
    var content: Content
    /// The users whom the content mentions without effect, because they were erased since.
    var pastMentions: [UserID] = []
    /// The reactions in the order of their first use, each with all its users in the order of reacting.
    var reactions: [(key: ReactionKey, users: [UserID])]
    /// The pin; `nil` if it is not pinned.
    var pinned: Pin?
    /// The time when it was stored.
    var createdAt: Timestamp
    /// The time of its latest edit; `nil` if it was never edited.
    var editedAt: Timestamp?
    /// True for a tombstone.
    var deleted: Bool
}

// MARK: Writing

extension TransferLine {
    /// Appends the line, including its line feed.
    func encode(into out: inout [UInt8]) {
        switch self {
        case .start(let version, let epoch):
            out.append(literal: #"{"type":"export""#)
            out.append(member: "version", version)
            if let epoch { out.append(member: "epoch", epoch) }
        case .room(let room, let settings, let direct):
            out.append(literal: #"{"type":"room""#)
            out.append(member: "room", room.string)
            settings.encodeMembers(into: &out)
            if let direct {
                out.append(literal: #","direct":"#)
                out.append(array: [direct.first, direct.second]) { $1.append(quoted: $0.string) }
            }
        case .member(let room, let member, let isHidden):
            out.append(literal: #"{"type":"member""#)
            out.append(member: "room", room.string)
            out.append(member: "user", member.user.string)
            out.append(member: "role", member.role.rawValue)
            if isHidden { out.append(member: "hidden", true) }
        case .read(let room, let mark):
            out.append(literal: #"{"type":"read""#)
            out.append(member: "room", room.string)
            out.append(member: "user", mark.user.string)
            out.append(member: "seq", mark.seq)
            if let time = mark.at { out.append(member: "at", time.description) }
        case .block(let block, let user):
            out.append(literal: #"{"type":"block""#)
            out.append(member: "user", user.string)
            out.append(member: "blocked", block.user.string)
            out.append(member: "created_at", block.createdAt.description)
        case .profile(let profile):
            out.append(literal: #"{"type":"profile","#)
            var object: [UInt8] = []
            profile.encode(into: &object)
            out.append(contentsOf: object.dropFirst().dropLast())
        case .notify(let room, let user, let settings):
            out.append(literal: #"{"type":"notify""#)
            out.append(member: "room", room.string)
            out.append(member: "user", user.string)
            settings.encodeMembers(into: &out)
        case .end(let messages):
            out.append(literal: #"{"type":"end""#)
            out.append(member: "messages", messages)
        case .message(let message):
            var snapshot: [UInt8] = []
            message.snapshot.encode(into: &snapshot)
            if !message.pastMentions.isEmpty {
                snapshot.removeLast()
                snapshot.append(literal: #","past_mentions":"#)
                snapshot.append(array: message.pastMentions) { $1.append(quoted: $0.string) }
                snapshot.append(UInt8(ascii: "}"))
            }
            return Self.appendMessage(snapshot.span, to: &out)
        }
        out.append(literal: "}\n")
    }

    /// Appends the line of a message from its snapshot, without the `rev`, because revisions belong to one database.
    static func appendMessage(_ snapshot: Span<UInt8>, to out: inout [UInt8]) {
        out.append(literal: #"{"type":"message","#)
        // `room`, `seq` and `rev` come first, and a room id has no commas.
        var commas: [Int] = []
        var index = 0
        while commas.count < 3, index < snapshot.count {
            if snapshot[index] == UInt8(ascii: ",") { commas.append(index) }
            index += 1
        }
        if commas.count == 3 {
            out.append(copying: snapshot.extracting(1..<commas[1]))
            out.append(copying: snapshot.extracting(commas[2]...))
        } else {
            out.append(copying: snapshot.extracting(1...))
        }
        out.append(UInt8(ascii: "\n"))
    }
}

extension TransferMessage {
    /// Returns the message of this snapshot, with all users of its reactions.
    init(
        _ message: Message, seq: Int64, reactions: [(key: ReactionKey, users: [UserID])], pastMentions: [UserID]
    ) {
        self.init(
            room: message.room, seq: seq, sender: message.sender, clientMessageID: message.clientMessageID,
            content: message.content, pastMentions: pastMentions, reactions: reactions, pinned: message.pinned,
            createdAt: message.createdAt, editedAt: message.editedAt, deleted: message.deleted)
    }

    /// The message with all users of its reactions. Its `rev` has no meaning.
    fileprivate var snapshot: Message {
        Message(
            room: room, seq: seq ?? 0, rev: 0, sender: sender, clientMessageID: clientMessageID, content: content,
            reactions: reactions.map { Reaction(key: $0.key.string, count: $0.users.count, users: $0.users) },
            pinned: pinned, createdAt: createdAt, editedAt: editedAt, deleted: deleted)
    }
}

// MARK: Reading

extension TransferLine {
    /// Decodes a line. Unknown fields are ignored, and the content has the same limits as a send.
    ///
    /// - Throws: The errors of ``Draft/decode(_:)``, and 400 `invalid_field` for the other fields.
    static func decode(_ line: [UInt8]) throws(Problem) -> TransferLine {
        var reader = FieldReader(try JSONScanner(line))
        guard try reader.json.peek() == .object else { throw .invalidJSON("A line must be a JSON object.") }
        try reader.json.enterObject()
        var fields = Fields()
        while let name = try reader.json.nextName() { try fields.decode(name, from: &reader) }
        try reader.finish()
        return try fields.line()
    }

    /// The fields of a line of any type.
    private struct Fields {
        var type: String?
        var room: String?
        var user: String?
        var seq: Int64?
        var version: Int64?
        var epoch: String?
        var messages: Int64?
        var settings = RoomSettings()
        var role: String?
        var at: String?
        var direct: [String] = []
        var isHidden = false
        var level: String?
        var until: String?
        var roomMentions = true
        var blocked: String?
        var name: String?
        /// The reader before the value of `avatar`, which is checked once the type is known.
        var avatar: FieldReader?
        var sender: String?
        var clientMessageID: String?
        var content = Content()
        var pastMentions: [String] = []
        var reactions: [(key: String, users: [String])] = []
        var pinned: Pin?
        var createdAt: String?
        var editedAt: String?
        var deleted = false

        mutating func decode(_ name: JSONString, from reader: inout FieldReader) throws(Problem) {
            if reader.json.matches(name, "type") {
                type = try reader.string("type")
            } else if reader.json.matches(name, "room") {
                room = try reader.string("room")
            } else if reader.json.matches(name, "seq") {
                seq = try reader.integer("seq")
            } else if reader.json.matches(name, "sender") {
                sender = try reader.string("sender")
            } else if reader.json.matches(name, "client_message_id") {
                clientMessageID = try reader.string("client_message_id", limit: Limits.clientMessageIDBytes)
            } else if reader.json.matches(name, "created_at") {
                createdAt = try reader.string("created_at")
            } else if reader.json.matches(name, "edited_at") {
                editedAt = try reader.string("edited_at")
            } else if reader.json.matches(name, "deleted") {
                deleted = try reader.boolean("deleted") ?? false
            } else if reader.json.matches(name, "pinned") {
                pinned = try reader.pin()
            } else if reader.json.matches(name, "reactions") {
                reactions = try reader.reactionsWithUsers()
            } else if reader.json.matches(name, "past_mentions") {
                guard try reader.enterArray("past_mentions") else { return }
                while try reader.json.nextElement() { pastMentions.append(try reader.string("past_mentions") ?? "") }
            } else if try content.decode(name, from: &reader) {
                // Already decoded.
            } else if reader.json.matches(name, "user") {
                user = try reader.string("user")
            } else if reader.json.matches(name, "role") {
                role = try reader.string("role")
            } else if reader.json.matches(name, "name") {
                self.name = try reader.string("name", limit: Limits.profileNameBytes)
            } else if reader.json.matches(name, "avatar") {
                avatar = reader
                try reader.json.skipValue()
            } else if reader.json.matches(name, "at") {
                at = try reader.string("at")
            } else if reader.json.matches(name, "direct") {
                guard try reader.enterArray("direct") else { return }
                while try reader.json.nextElement() { direct.append(try reader.string("direct") ?? "") }
            } else if reader.json.matches(name, "blocked") {
                blocked = try reader.string("blocked")
            } else if reader.json.matches(name, "hidden") {
                isHidden = try reader.boolean("hidden") ?? false
            } else if try settings.decode(name, from: &reader) {
                // Already decoded.
            } else if reader.json.matches(name, "level") {
                level = try reader.string("level")
            } else if reader.json.matches(name, "until") {
                until = try reader.string("until")
            } else if reader.json.matches(name, "room_mentions") {
                roomMentions = try reader.boolean("room_mentions") ?? true
            } else if reader.json.matches(name, "version") {
                version = try reader.integer("version")
            } else if reader.json.matches(name, "epoch") {
                epoch = try reader.string("epoch")
            } else if reader.json.matches(name, "messages") {
                messages = try reader.integer("messages")
            } else {
                try reader.json.skipValue()
            }
        }

        func line() throws(Problem) -> TransferLine {
            switch type {
            case "message", nil:
                return .message(try message())
            case "room":
                let room = try roomID()
                return .room(room, try roomSettings(), direct: try pair(of: room))
            case "member":
                let role = RoomMember.Role(rawValue: role ?? "member")
                guard let role else { throw .invalidField("role", must: "\"member\" or \"owner\"") }
                return .member(
                    try roomID(), RoomMember(user: try userID(user, "user"), role: role), isHidden: isHidden)
            case "read":
                guard let seq, seq >= 0 else { throw .invalidField("seq", must: "an integer from 0 on") }
                return .read(
                    try roomID(), ReadReceipt(user: try userID(user, "user"), seq: seq, at: try time(at, "at")))
            case "block":
                guard let createdAt = try time(createdAt, "created_at") else {
                    throw .invalidField("created_at", must: "an RFC 3339 time")
                }
                return .block(
                    Block(user: try userID(blocked, "blocked"), createdAt: createdAt), by: try userID(user, "user"))
            case "profile":
                guard content.data.count <= Limits.profileDataBytes else {
                    throw .tooLong("data", limit: Limits.profileDataBytes)
                }
                return .profile(
                    Profile(user: try userID(user, "user"), name: name, avatar: try avatarURL(), data: content.data))
            case "notify":
                guard let level = NotifySettings.Level(rawValue: level ?? "") else {
                    throw .invalidField("level", must: "\"all\", \"mentions\" or \"none\"")
                }
                return .notify(
                    try roomID(), try userID(user, "user"),
                    NotifySettings(level: level, until: try time(until, "until"), roomMentions: roomMentions))
            case "export":
                guard version == TransferLine.version else {
                    throw .invalidField("version", must: "\(TransferLine.version), the version that this program reads")
                }
                return .start(version: TransferLine.version, epoch: epoch)
            case "end":
                guard let messages, messages >= 0 else { throw .invalidField("messages", must: "an integer from 0 on") }
                return .end(messages: messages)
            default:
                throw .invalidField("type", must: "message, room, member, read, notify, block, profile, export or end")
            }
        }

        private func message() throws(Problem) -> TransferMessage {
            if clientMessageID?.isEmpty == true { throw .emptyField("client_message_id") }
            if let seq, seq <= 0 { throw .invalidField("seq", must: "a positive integer") }
            if let replyTo = content.replyTo, replyTo <= 0 { throw .replyToNotFound }
            // Earlier versions stored blank texts, which an import takes over.
            if content.text.isEmpty, content.attachments.isEmpty, !deleted { throw .emptyMessage }
            guard let createdAt = try time(createdAt, "created_at") else {
                throw .invalidField("created_at", must: "an RFC 3339 time")
            }
            let editedAt = try time(editedAt, "edited_at")
            if let editedAt, editedAt < createdAt { throw .invalidField("edited_at", must: "at or after created_at") }
            // The sender of a tombstone may have been erased.
            if let user = pinned?.by, user != .deleted { _ = try userID(user.string, "pinned.by") }
            let isErased = deleted && sender?.hasSameBytes(as: UserID.deleted.string) == true
            // A tombstone keeps only its `seq`, sender and time, whatever else the line contains.
            return TransferMessage(
                room: try roomID(), seq: seq, sender: isErased ? .deleted : try userID(sender, "sender"),
                clientMessageID: clientMessageID,
                content: deleted ? Content() : content,
                pastMentions: deleted
                    ? [] : try pastMentions.map { name throws(Problem) in try userID(name, "past_mentions") },
                reactions: deleted ? [] : try checkedReactions(),
                pinned: deleted ? nil : pinned, createdAt: createdAt, editedAt: deleted ? nil : editedAt,
                deleted: deleted)
        }

        private func checkedReactions() throws(Problem) -> [(key: ReactionKey, users: [UserID])] {
            guard !reactions.isEmpty else { return [] }
            guard reactions.count <= Limits.reactionKeys else { throw .tooManyReactions }
            var checked: [(key: ReactionKey, users: [UserID])] = []
            for reaction in reactions {
                let key = try ReactionKey(reaction.key)
                guard !checked.contains(where: { $0.key == key }) else {
                    throw .invalidField("reactions", must: "of different keys")
                }
                var users: [UserID] = []
                var seen: Set<UserID> = []
                for user in reaction.users {
                    let user = try userID(user, "reactions")
                    if seen.insert(user).inserted { users.append(user) }
                }
                guard !users.isEmpty else { throw .invalidField("reactions", must: "objects with a key and its users") }
                checked.append((key, users))
            }
            return checked
        }

        private func roomID() throws(Problem) -> RoomID {
            guard let room else { throw .invalidField("room", must: "a string") }
            return try RoomID(room)
        }

        private func userID(_ text: String?, _ field: String) throws(Problem) -> UserID {
            guard let text, let user = try? UserID(text) else {
                throw .invalidField(
                    field, must: "1 to \(UserID.maximumBytes) bytes of printable UTF-8 without spaces, not . or ..")
            }
            return user
        }

        /// Returns the two users of a direct room. Its id follows from them, unless one of them was erased.
        private func pair(of room: RoomID) throws(Problem) -> DirectPair? {
            guard room.isDirect else { return nil }
            let problem = Problem.invalidField("direct", must: "the two users of the direct room")
            guard direct.count == 2 else { throw problem }
            var users: [UserID] = []
            for name in direct {
                let isErased = name.hasSameBytes(as: UserID.deleted.string)
                users.append(isErased ? .deleted : try userID(name, "direct"))
            }
            guard users.contains(.deleted) || (users[0] != users[1] && RoomID.direct(users[0], users[1]) == room) else {
                throw problem
            }
            return DirectPair(users[0], users[1])
        }

        private func roomSettings() throws(Problem) -> RoomSettings {
            // The member `data` was read as that of a message, which may be longer.
            guard content.data.count <= Limits.roomDataBytes else {
                throw .tooLong("data", limit: Limits.roomDataBytes)
            }
            var settings = settings
            settings.avatar = try avatarURL()
            if !content.data.isEmpty { settings.data = content.data }
            return settings
        }

        /// Returns the picture of a room or a user, which differ in the URLs that they allow.
        private func avatarURL() throws(Problem) -> String? {
            guard var reader = avatar else { return nil }
            let url = try type == "room" ? reader.roomAvatar() : reader.profileAvatar()
            if let fault = reader.fault { throw fault }
            return url
        }

        private func time(_ text: String?, _ field: String) throws(Problem) -> Timestamp? {
            guard let text else { return nil }
            guard let time = Timestamp(rfc3339: text) else { throw .invalidField(field, must: "an RFC 3339 time") }
            return time
        }
    }
}

extension FieldReader {
    /// Decodes reactions with all their users. The `count` of each is ignored.
    fileprivate mutating func reactionsWithUsers() throws(Problem) -> [(key: String, users: [String])] {
        guard try enterArray("reactions") else { return [] }
        var reactions: [(key: String, users: [String])] = []
        while try json.nextElement() {
            guard try enterObject(FieldName("reactions", reactions.count)) else { continue }
            var (key, users): (String, [String]) = ("", [])
            while let name = try json.nextName() {
                if json.matches(name, "key") {
                    key = try string(FieldName("reactions", reactions.count, "key")) ?? ""
                } else if json.matches(name, "users") {
                    guard try enterArray(FieldName("reactions", reactions.count, "users")) else { continue }
                    while try json.nextElement() {
                        users.append(try string(FieldName("reactions", reactions.count, "users")) ?? "")
                    }
                } else {
                    try json.skipValue()
                }
            }
            reactions.append((key, users))
        }
        return reactions
    }
}
