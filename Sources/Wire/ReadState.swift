/// What a user has read of a room, and what not.
public struct ReadState: Sendable, Hashable {
    /// The read mark: the `seq` up to which the user has read; 0 for nothing.
    public var read: Int64
    /// The number of messages of others beyond the mark that are not deleted; 1000 stands for more, too.
    public var unread: Int64
    /// The `seq` of the first of these messages; `nil` when there is none.
    public var firstUnread: Int64?

    /// A read mark, and what lies beyond it.
    public init(read: Int64 = 0, unread: Int64 = 0, firstUnread: Int64? = nil) {
        self.read = read
        self.unread = unread
        self.firstUnread = firstUnread
    }
}
