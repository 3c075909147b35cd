public import Wire

/// A room in the list of a user's rooms.
public struct InboxRoom: Sendable, Hashable {
    /// The room as the user sees it.
    public var summary: RoomSummary
    /// The snapshot of the newest message; `nil` if there is none.
    public var lastMessage: [UInt8]?

    /// Creates an entry for a room and its newest message.
    public init(summary: RoomSummary, lastMessage: [UInt8]?) {
        self.summary = summary
        self.lastMessage = lastMessage
    }

    /// Appends the room as a JSON object: the members of the summary, and the message.
    public func encode(into out: inout [UInt8]) {
        summary.encodeMembers(into: &out)
        if let lastMessage {
            out.append(memberName: "last_message")
            out.append(contentsOf: lastMessage)
        }
        out.append(UInt8(ascii: "}"))
    }
}
