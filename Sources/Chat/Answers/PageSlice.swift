import Wire

/// A page of messages, read in one transaction.
public struct PageSlice: Sendable {
    /// The messages' snapshots in ascending `seq`, joined by commas.
    public var messages: [UInt8]
    /// The number of messages.
    public var count: Int
    /// The `seq` of the first message; 0 if there is none.
    public var firstSeq: Int64
    /// The `seq` of the last message; 0 if there is none.
    public var lastSeq: Int64
    /// True if the room has messages before the page.
    public var hasBefore: Bool
    /// True if the room has messages after the page.
    public var hasAfter: Bool
    /// The room's state in the same transaction.
    public var state: RoomState
    /// The reader's mark and number of unread messages in the same transaction; `nil` unless the page was requested by a
    /// personal place.
    public var readState: ReadState?

    /// Creates a page of `count` messages.
    public init(
        messages: [UInt8], count: Int, firstSeq: Int64, lastSeq: Int64, hasBefore: Bool, hasAfter: Bool,
        state: RoomState, readState: ReadState? = nil
    ) {
        self.messages = messages
        self.count = count
        self.firstSeq = firstSeq
        self.lastSeq = lastSeq
        self.hasBefore = hasBefore
        self.hasAfter = hasAfter
        self.state = state
        self.readState = readState
    }

    /// Appends the page as a JSON object, the answer to `GET …/messages`.
    public func encode(epoch: String, into out: inout [UInt8]) {
        out.reserveCapacity(out.count + messages.count + 192)
        out.append(literal: #"{"messages":["#)
        out.append(contentsOf: messages)
        out.append(UInt8(ascii: "]"))
        out.append(member: "has_before", hasBefore)
        out.append(member: "has_after", hasAfter)
        out.append(member: "head", state.head)
        out.append(member: "rev", state.rev)
        out.append(member: "epoch", epoch)
        if let readState {
            out.append(member: "read", readState.read)
            out.append(member: "unread", readState.unread)
            if let first = readState.firstUnread { out.append(member: "first_unread", first) }
            out.append(member: "unread_mentions", readState.unreadMentions)
            if let first = readState.firstUnreadMention { out.append(member: "first_unread_mention", first) }
        }
        out.append(UInt8(ascii: "}"))
    }
}
