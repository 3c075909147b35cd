/// A room as one caller sees it.
public struct RoomSummary: Sendable, Hashable {
    /// Who may read a room.
    public enum Visibility: String, Sendable, Hashable {
        /// Everybody.
        case open
        /// Its members.
        case `private`
    }

    /// The room.
    public var room: RoomID
    /// The highest `seq`; 0 when the room is empty.
    public var head: Int64
    /// The latest revision.
    public var rev: Int64
    /// The epoch of the history.
    public var epoch: String
    /// Up to which `seq` the caller has read; 0 for nothing, absent if nobody is named as the caller.
    public var read: Int64?
    /// The number of messages that the caller has not read.
    public var unread: Int64?
    /// The `seq` of the first message that the caller has not read, if there is one.
    public var firstUnread: Int64?
    /// Who may read the room.
    public var visibility: Visibility?
    /// What the room is called.
    public var title: String?
    /// What the caller is in the room; `nil` for no member.
    public var role: RoomMember.Role?

    /// A room; what is `nil` is left out.
    public init(
        room: RoomID, head: Int64, rev: Int64, epoch: String, read: Int64? = nil, unread: Int64? = nil,
        firstUnread: Int64? = nil, visibility: Visibility? = nil, title: String? = nil,
        role: RoomMember.Role? = nil
    ) {
        self.room = room
        self.head = head
        self.rev = rev
        self.epoch = epoch
        self.read = read
        self.unread = unread
        self.firstUnread = firstUnread
        self.visibility = visibility
        self.title = title
        self.role = role
    }

    /// Appends the summary as a JSON object.
    public func encode(into out: inout [UInt8]) {
        encodeMembers(into: &out)
        out.append(UInt8(ascii: "}"))
    }

    /// Appends the summary as an object that has not ended: more members may follow.
    func encodeMembers(into out: inout [UInt8]) {
        out.append(literal: #"{"room":"#)
        out.append(quoted: room.string)
        out.append(member: "head", head)
        out.append(member: "rev", rev)
        out.append(member: "epoch", epoch)
        if let read { out.append(member: "read", read) }
        if let unread { out.append(member: "unread", unread) }
        if let firstUnread { out.append(member: "first_unread", firstUnread) }
        if let visibility { out.append(member: "visibility", visibility.rawValue) }
        if let title { out.append(member: "title", title) }
        if let role { out.append(member: "role", role.rawValue) }
    }
}
