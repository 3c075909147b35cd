public import Wire

/// A change of a stored message.
public struct MessageChange: Sendable {
    /// The change to make.
    public enum Action: Sendable {
        /// Edit the content; allowed to the sender.
        case edit(Edit)
        /// Replace the message by a tombstone; allowed to the sender, and to owners of the room.
        case delete
        /// Add a reaction; allowed to everybody.
        case addReaction(ReactionKey)
        /// Remove one's own reaction.
        case removeReaction(ReactionKey)
        /// Pin the message; allowed to owners, and to all members if the room says so.
        case pin
        /// Unpin the message; allowed to the same users.
        case unpin
    }

    /// The message's `seq`.
    public var seq: Int64
    /// The change to make.
    public var action: Action
    /// The revisions at which the message may be changed: the header `If-Match` (RFC 9110, section 13.1.1). `nil`
    /// accepts any revision, an empty array none.
    public var revs: [Int64]?

    /// Creates a change of the message at `seq`.
    public init(seq: Int64, action: Action, revs: [Int64]? = nil) {
        self.seq = seq
        self.action = action
        self.revs = revs
    }
}
