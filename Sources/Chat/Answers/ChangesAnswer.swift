import Wire

/// The changes of a room, as `GET …/changes` returns them.
public struct ChangesAnswer: Sendable {
    /// The messages' snapshots in ascending `rev`, joined by commas.
    public var messages: [UInt8]
    /// The value to pass as `since` next.
    public var rev: Int64
    /// True if there are further changes.
    public var hasMore: Bool
    /// The epoch of the history.
    public var epoch: String

    /// Creates an answer with the changes up to `rev`.
    public init(messages: [UInt8], rev: Int64, hasMore: Bool, epoch: String) {
        self.messages = messages
        self.rev = rev
        self.hasMore = hasMore
        self.epoch = epoch
    }

    /// Appends the changes as a JSON object.
    public func encode(into out: inout [UInt8]) {
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
