/// The read mark of a user in a room, and the unread messages after it.
public struct ReadState: Sendable, Hashable {
    /// The read mark: the `seq` up to which the user has read; 0 if nothing.
    public var read: Int64
    /// Number of messages by others after the mark that are not deleted, capped at 1000.
    public var unread: Int64
    /// The `seq` of the first unread message; `nil` if there is none.
    public var firstUnread: Int64?
    /// Number of the unread messages that mention the user or the room, capped at 1000.
    public var unreadMentions: Int64
    /// The `seq` of the first of them; `nil` if there is none.
    public var firstUnreadMention: Int64?

    /// Creates a read state.
    public init(
        read: Int64 = 0, unread: Int64 = 0, firstUnread: Int64? = nil, unreadMentions: Int64 = 0,
        firstUnreadMention: Int64? = nil
    ) {
        self.read = read
        self.unread = unread
        self.firstUnread = firstUnread
        self.unreadMentions = unreadMentions
        self.firstUnreadMention = firstUnreadMention
    }
}
