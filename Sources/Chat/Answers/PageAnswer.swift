import Wire

/// A page of a room, as `GET …/messages` returns it.
public struct PageAnswer: Sendable {
    /// The messages' snapshots in ascending `seq`, joined by commas.
    public var messages: [UInt8]
    /// True if the room has messages before this page.
    public var hasBefore: Bool
    /// True if the room has messages after this page.
    public var hasAfter: Bool
    /// The room's highest `seq`; 0 if it is empty.
    public var head: Int64
    /// The room's revision, to pass as `live?since=`.
    public var rev: Int64
    /// The epoch of the history.
    public var epoch: String
    /// The caller's read state; `nil` unless the page was requested with a personal place.
    public var readState: ReadState?

    /// Creates a page. All its values must come from one snapshot of the store.
    public init(
        messages: [UInt8], hasBefore: Bool, hasAfter: Bool, head: Int64, rev: Int64, epoch: String,
        readState: ReadState? = nil
    ) {
        self.messages = messages
        self.hasBefore = hasBefore
        self.hasAfter = hasAfter
        self.head = head
        self.rev = rev
        self.epoch = epoch
        self.readState = readState
    }

    /// Appends the page as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.reserveCapacity(out.count + messages.count + 192)
        out.append(literal: #"{"messages":["#)
        out.append(contentsOf: messages)
        out.append(UInt8(ascii: "]"))
        out.append(member: "has_before", hasBefore)
        out.append(member: "has_after", hasAfter)
        out.append(member: "head", head)
        out.append(member: "rev", rev)
        out.append(member: "epoch", epoch)
        if let readState {
            out.append(member: "read", readState.read)
            out.append(member: "unread", readState.unread)
            if let first = readState.firstUnread { out.append(member: "first_unread", first) }
        }
        out.append(UInt8(ascii: "}"))
    }
}
