import Wire

/// A user's rooms as read in one snapshot.
public struct InboxSlice: Sendable {
    /// The rooms, latest activity first.
    public var rooms: [InboxRoom]
    /// The cursor of the next page; `nil` at the end of the list.
    public var next: InboxCursor?

    /// Creates a slice of the list.
    public init(rooms: [InboxRoom], next: InboxCursor?) {
        self.rooms = rooms
        self.next = next
    }

    /// Appends the list as a JSON object, the answer to `GET /v1/rooms`.
    public func encode(epoch: String, into out: inout [UInt8]) {
        out.append(literal: #"{"rooms":"#)
        out.append(array: rooms) { $0.encode(into: &$1) }
        out.append(member: "has_more", next != nil)
        if let next { out.append(member: "cursor", next.description) }
        out.append(member: "epoch", epoch)
        out.append(UInt8(ascii: "}"))
    }
}
