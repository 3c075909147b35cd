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
}
