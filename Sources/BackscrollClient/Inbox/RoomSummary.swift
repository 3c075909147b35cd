public import Wire

/// The readers of a room.
public enum RoomVisibility: String, Hashable, Sendable {
    /// Everybody may read the room.
    case open
    /// Only members may read the room.
    case `private`
}

/// The permissions of a member.
public enum RoomRole: String, Hashable, Sendable {
    /// May read a private room and write to it.
    case member
    /// May also change the room and its members.
    case owner
}

/// The settings of a room that its owners make, apart from its visibility and title.
public typealias RoomManners = Wire.RoomManners
/// A user's settings for what may disturb in a room.
public typealias NotifySettings = Wire.NotifySettings
/// Settings of a room to change. Nil keeps a value.
public typealias RoomSettings = Wire.RoomSettings

/// A room as an entry of a list of rooms.
public struct RoomSummary: Identifiable, Hashable, Sendable {
    /// Maximum value of ``unread``. At this value there may be more unread messages.
    public static let countedUnread = 1000

    /// True if the room may have more unread messages than ``unread``: write "1,000+".
    public var hasMoreUnread: Bool { unread >= Self.countedUnread }

    /// The room's id.
    public let id: String
    /// The title; nil if the room has none.
    public internal(set) var title: String?
    /// The other user of a direct room, `~deleted` if that user was erased; nil for other rooms.
    public internal(set) var direct: String?
    /// The readers of the room.
    public internal(set) var visibility: RoomVisibility
    /// The other settings of its owners: who may send and pin, slow mode, a picture and so on.
    public internal(set) var manners: RoomManners
    /// The user's role; nil if the user is not a member.
    public internal(set) var role: RoomRole?
    /// The `seq` of the newest message; 0 if there is none.
    public internal(set) var head: Int64
    /// The room's revision up to which this value has every change.
    public internal(set) var rev: Int64
    /// The history that ``rev`` belongs to.
    public internal(set) var epoch: String
    /// The `seq` up to which the user has read; 0 if nothing.
    public internal(set) var read: Int64
    /// Number of messages of others after ``read`` that are not deleted, at most ``countedUnread``.
    public internal(set) var unread: Int
    /// The `seq` of the first of them.
    public internal(set) var firstUnread: Int64?
    /// Number of the messages in ``unread`` that mention the user or the room and are not by blocked users, at most
    /// ``countedUnread``.
    public internal(set) var unreadMentions: Int
    /// The `seq` of the first of them.
    public internal(set) var firstUnreadMention: Int64?
    /// The user's settings for what may disturb; nil for the default. They may have ended: see ``notifyLevel(at:)``.
    public internal(set) var notify: NotifySettings?
    /// The newest message, which may be deleted; nil if there is none, or if it is not known.
    public internal(set) var lastMessage: ChatMessage?

    /// Returns which messages may disturb the user at a time.
    public func notifyLevel(at time: Timestamp) -> NotifySettings.Level {
        guard let notify, notify.isInForce(at: time) else { return .all }
        return notify.level
    }

    /// Returns the number of unread messages that may disturb the user at a time: what a badge shows loudly.
    public func loudUnread(at time: Timestamp) -> Int {
        switch notifyLevel(at: time) {
        case .all: unread
        case .mentions: unreadMentions
        case .none: 0
        }
    }

    /// Reads a room from ``json``, or from an answer of the server.
    ///
    /// - Throws: ``BackscrollClientError/storeDamaged`` if it is no room.
    public init(json: [UInt8]) throws(BackscrollClientError) {
        guard let fields = try? JSONFields(json), let room = RoomSummary(fields) else {
            throw BackscrollClientError(
                code: BackscrollClientError.storeDamaged, message: "A stored room of the list cannot be read.")
        }
        self = room
    }

    /// The room as JSON, for a store.
    public var json: [UInt8] {
        var json: [UInt8] = []
        json.append(literal: #"{"room":"#)
        json.append(quoted: id)
        if let title { json.append(member: "title", title) }
        if let direct { json.append(member: "direct", direct) }
        json.append(member: "visibility", visibility.rawValue)
        manners.encodeMembers(into: &json)
        if let role { json.append(member: "role", role.rawValue) }
        json.append(member: "head", head)
        json.append(member: "rev", rev)
        json.append(member: "epoch", epoch)
        json.append(member: "read", read)
        json.append(member: "unread", Int64(unread))
        if let firstUnread { json.append(member: "first_unread", firstUnread) }
        json.append(member: "unread_mentions", Int64(unreadMentions))
        if let firstUnreadMention { json.append(member: "first_unread_mention", firstUnreadMention) }
        if let notify {
            json.append(memberName: "notify")
            notify.encode(into: &json)
        }
        if let lastMessage {
            json.append(memberName: "last_message")
            json += lastMessage.json
        }
        json.append(UInt8(ascii: "}"))
        return json
    }

    /// Reads an answer; nil if it lacks a field.
    init?(_ fields: JSONFields) {
        let (strings, integers) = (fields.strings, fields.integers)
        guard let id = strings["room"], let epoch = strings["epoch"], let head = integers["head"],
            let rev = integers["rev"]
        else { return nil }
        self.id = id
        title = strings["title"]
        direct = strings["direct"]
        visibility = strings["visibility"].flatMap(RoomVisibility.init(rawValue:)) ?? .open
        manners = RoomManners(
            posting: strings["posting"].flatMap(RoomManners.Posting.init(rawValue:)) ?? .members,
            pinning: strings["pinning"].flatMap(RoomManners.Pinning.init(rawValue:)) ?? .owners,
            slowSeconds: Int(integers["slow_seconds"] ?? 0), keepDays: integers["keep_days"].map(Int.init),
            avatar: strings["avatar"], data: fields.data, isSearchable: fields.booleans["searchable"] ?? true)
        role = strings["role"].flatMap(RoomRole.init(rawValue:))
        self.head = head
        self.rev = rev
        self.epoch = epoch
        read = integers["read"] ?? 0
        unread = Int(integers["unread"] ?? 0)
        firstUnread = integers["first_unread"]
        unreadMentions = Int(integers["unread_mentions"] ?? 0)
        firstUnreadMention = integers["first_unread_mention"]
        notify = fields.objects["notify"].flatMap(NotifySettings.init)
        lastMessage = fields.message
    }
}

extension NotifySettings {
    /// Reads an answer, a frame or a stored room; nil if it lacks the level.
    init?(_ fields: JSONFields) {
        guard let level = fields.strings["level"].flatMap(Level.init(rawValue:)) else { return nil }
        self.init(
            level: level, until: fields.strings["until"].flatMap { Timestamp(rfc3339: $0) },
            roomMentions: fields.booleans["room_mentions"] ?? true)
    }
}

/// A member of a room.
public struct Member: Identifiable, Hashable, Sendable {
    /// The user's id.
    public let userID: String
    /// The member's permissions.
    public let role: RoomRole
    /// The user's profile, if it was asked for and there is one.
    public let profile: UserProfile?

    /// The user's id.
    public var id: String { userID }

    init?(_ fields: JSONFields) {
        guard let user = fields.strings["user"], let role = fields.strings["role"].flatMap(RoomRole.init(rawValue:))
        else { return nil }
        userID = user
        self.role = role
        profile = fields.objects["profile"].flatMap(UserProfile.init)
    }
}

/// Some members of a room, in the order of their ids.
public struct MemberPage: Hashable, Sendable {
    /// The members.
    public let members: [Member]
    /// True if there are more. Load the next page after the last member.
    public let hasMore: Bool
}
