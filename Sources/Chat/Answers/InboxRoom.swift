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

/// The rooms of a user, as `GET /v1/rooms` returns them.
public struct InboxAnswer: Sendable {
    /// The rooms, latest activity first.
    public var rooms: [InboxRoom]
    /// The cursor of the next part; `nil` at the end of the list.
    public var next: InboxCursor?
    /// The epoch of the history.
    public var epoch: String

    /// Creates an answer. All its values must come from one snapshot of the store.
    public init(rooms: [InboxRoom], next: InboxCursor?, epoch: String) {
        self.rooms = rooms
        self.next = next
        self.epoch = epoch
    }

    /// Appends the list as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"rooms":"#)
        out.append(array: rooms) { $0.encode(into: &$1) }
        out.append(member: "has_more", next != nil)
        if let next { out.append(member: "cursor", next.description) }
        out.append(member: "epoch", epoch)
        out.append(UInt8(ascii: "}"))
    }
}
