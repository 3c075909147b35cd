import Wire

/// A user's mentions, read in one transaction.
public struct MentionsSlice: Sendable {
    /// The snapshots of the messages, newest first.
    public var messages: [[UInt8]]
    /// The cursor of the next page; `nil` at the end of the list.
    public var next: MessageCursor?

    /// Creates a slice of the list.
    public init(messages: [[UInt8]], next: MessageCursor?) {
        self.messages = messages
        self.next = next
    }

    /// The number of bytes of messages in the slice.
    public var messageBytes: Int { messages.reduce(0) { $0 + $1.count } }

    /// Appends the list as a JSON object, the answer to `GET /v1/mentions`.
    public func encode(epoch: String, into out: inout [UInt8]) {
        out.append(literal: #"{"messages":"#)
        out.append(array: messages) { $1.append(contentsOf: $0) }
        out.append(member: "has_more", next != nil)
        if let next { out.append(member: "cursor", next.description) }
        out.append(member: "epoch", epoch)
        out.append(UInt8(ascii: "}"))
    }
}
