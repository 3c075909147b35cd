/// A room as one caller sees it.
public struct RoomSummary: Sendable, Hashable {
    /// The readers of a room.
    public enum Visibility: String, Sendable, Hashable {
        /// Everybody may read the room.
        case open
        /// Only members may read the room.
        case `private`
    }

    /// The room.
    public var room: RoomID
    /// The highest `seq`; 0 if the room is empty.
    public var head: Int64
    /// The latest revision.
    public var rev: Int64
    /// The epoch of the history.
    public var epoch: String
    /// The `seq` up to which the caller has read; 0 if nothing, `nil` if the request names no user.
    public var read: Int64?
    /// Number of messages that the caller has not read.
    public var unread: Int64?
    /// The `seq` of the first message that the caller has not read, if there is one.
    public var firstUnread: Int64?
    /// Number of unread messages that mention the caller or the room.
    public var unreadMentions: Int64?
    /// The `seq` of the first unread message that mentions the caller or the room, if there is one.
    public var firstUnreadMention: Int64?
    /// The visibility of the room.
    public var visibility: Visibility?
    /// The title of the room.
    public var title: String?
    /// What owners have set besides.
    public var manners: RoomManners
    /// The caller's role in the room; `nil` if not a member.
    public var role: RoomMember.Role?
    /// The other user of a direct room; `nil` in other rooms, and for a caller who is not one of its two members.
    public var direct: UserID?

    /// The caller's settings for what may disturb in the room; `nil` for the default.
    public var notify: NotifySettings?

    /// Creates a summary. Fields that are `nil` are omitted.
    public init(
        room: RoomID, head: Int64, rev: Int64, epoch: String, read: Int64? = nil, unread: Int64? = nil,
        firstUnread: Int64? = nil, unreadMentions: Int64? = nil, firstUnreadMention: Int64? = nil,
        visibility: Visibility? = nil, title: String? = nil, manners: RoomManners = RoomManners(),
        role: RoomMember.Role? = nil, direct: UserID? = nil,
        notify: NotifySettings? = nil
    ) {
        self.room = room
        self.head = head
        self.rev = rev
        self.epoch = epoch
        self.read = read
        self.unread = unread
        self.firstUnread = firstUnread
        self.unreadMentions = unreadMentions
        self.firstUnreadMention = firstUnreadMention
        self.visibility = visibility
        self.title = title
        self.manners = manners
        self.role = role
        self.direct = direct
        self.notify = notify
    }

    /// Appends the summary as a JSON object.
    public func encode(into out: inout [UInt8]) {
        encodeMembers(into: &out)
        out.append(UInt8(ascii: "}"))
    }

    /// Appends the summary as an unfinished object, to which the caller can add members.
    package func encodeMembers(into out: inout [UInt8]) {
        out.append(literal: #"{"room":"#)
        out.append(quoted: room.string)
        out.append(member: "head", head)
        out.append(member: "rev", rev)
        out.append(member: "epoch", epoch)
        if let read { out.append(member: "read", read) }
        if let unread { out.append(member: "unread", unread) }
        if let firstUnread { out.append(member: "first_unread", firstUnread) }
        if let unreadMentions { out.append(member: "unread_mentions", unreadMentions) }
        if let firstUnreadMention { out.append(member: "first_unread_mention", firstUnreadMention) }
        if let visibility { out.append(member: "visibility", visibility.rawValue) }
        if let title { out.append(member: "title", title) }
        manners.encodeMembers(into: &out)
        if let role { out.append(member: "role", role.rawValue) }
        if let direct { out.append(member: "direct", direct.string) }
        if let notify {
            out.append(memberName: "notify")
            notify.encode(into: &out)
        }
    }
}
