/// A room in the list of a user's rooms.
public struct InboxRoom: Sendable, Hashable {
    /// The room as the user sees it.
    public var summary: RoomSummary
    /// The snapshot of its newest message; `nil` when it has none.
    public var lastMessage: [UInt8]?

    /// A room and its newest message.
    public init(summary: RoomSummary, lastMessage: [UInt8]?) {
        self.summary = summary
        self.lastMessage = lastMessage
    }

    /// Appends the room as a JSON object: the summary, and the message beside what is in it.
    public func encode(into out: inout [UInt8]) {
        summary.encodeMembers(into: &out)
        if let lastMessage {
            out.append(memberName: "last_message")
            out.append(contentsOf: lastMessage)
        }
        out.append(UInt8(ascii: "}"))
    }
}

/// A user's rooms, as `GET /v1/rooms` answers it.
public struct InboxAnswer: Sendable {
    /// The rooms, latest activity first.
    public var rooms: [InboxRoom]
    /// Where the list goes on; `nil` at its end.
    public var next: InboxCursor?
    /// The epoch of the history.
    public var epoch: String

    /// A list of rooms, all of it read in one snapshot.
    public init(rooms: [InboxRoom], next: InboxCursor?, epoch: String) {
        self.rooms = rooms
        self.next = next
        self.epoch = epoch
    }

    /// Appends the list as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"rooms":["#)
        for (index, room) in rooms.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            room.encode(into: &out)
        }
        out.append(UInt8(ascii: "]"))
        out.append(member: "has_more", next != nil)
        if let next { out.append(member: "cursor", next.description) }
        out.append(member: "epoch", epoch)
        out.append(UInt8(ascii: "}"))
    }
}
