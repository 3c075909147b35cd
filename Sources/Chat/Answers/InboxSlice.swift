import Wire

/// A user's rooms, read in one transaction.
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

    /// The number of bytes of messages in the slice.
    public var messageBytes: Int { rooms.reduce(0) { $0 + ($1.lastMessage?.count ?? 0) } }

    /// Appends the list as a JSON object, the answer to `GET /v1/rooms`.
    public func encode(epoch: String, into out: inout [UInt8]) {
        out.append(rooms: rooms, next: next, epoch: epoch) { $0.encode(into: &$1) }
    }
}

extension [UInt8] {
    /// Appends a page of a list of rooms as a JSON object.
    ///
    /// - Parameter next: The cursor of the next page; `nil` at the end of the list.
    mutating func append<Room>(
        rooms: [Room], next: InboxCursor?, epoch: String, _ encode: (Room, inout [UInt8]) -> Void
    ) {
        append(literal: #"{"rooms":"#)
        append(array: rooms, encode)
        append(member: "has_more", next != nil)
        if let next { append(member: "cursor", next.description) }
        append(member: "epoch", epoch)
        append(UInt8(ascii: "}"))
    }
}
