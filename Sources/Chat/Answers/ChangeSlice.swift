import Wire

/// Changed messages, read in one transaction.
public struct ChangeSlice: Sendable {
    /// The messages' snapshots in ascending `rev`, joined by commas.
    public var messages: [UInt8]
    /// The revision to pass as `since` for the next slice.
    public var rev: Int64
    /// True if more messages have changed than the slice contains.
    public var hasMore: Bool
    /// The room's state in the same transaction.
    public var state: RoomState

    /// Creates a slice of the changes up to `rev`.
    public init(messages: [UInt8], rev: Int64, hasMore: Bool, state: RoomState) {
        self.messages = messages
        self.rev = rev
        self.hasMore = hasMore
        self.state = state
    }

    /// Appends the changes as a JSON object, the answer to `GET …/changes`.
    public func encode(epoch: String, into out: inout [UInt8]) {
        out.reserveCapacity(out.count + messages.count + 160)
        out.append(literal: #"{"messages":["#)
        out.append(contentsOf: messages)
        out.append(UInt8(ascii: "]"))
        out.append(member: "rev", rev)
        out.append(member: "has_more", hasMore)
        out.append(member: "epoch", epoch)
        out.append(UInt8(ascii: "}"))
    }
}
