public import Wire

/// A user's rooms as read in one snapshot.
public struct InboxSlice: Sendable {
    /// The rooms, latest activity first.
    public var rooms: [InboxRoom]
    /// Where the list goes on; `nil` at its end.
    public var next: InboxCursor?

    /// A list of rooms.
    public init(rooms: [InboxRoom], next: InboxCursor?) {
        self.rooms = rooms
        self.next = next
    }
}
