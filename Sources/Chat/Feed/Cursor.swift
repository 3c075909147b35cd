/// The position of a subscriber in the messages of its room, with the data that a push needs.
///
/// Only the feed reads and changes cursors. They are stored next to each other, two in a processor's cache line, and a
/// push accesses no other object of the subscriber. This matters because the cache is cold after each write to the
/// kernel.
struct Cursor {
    let subscription: Subscription
    /// The revision up to which the client has every change.
    var rev: Int64
    /// The number of the socket for ``Outlets/push(_:to:)``; `nil` if all bytes must go through the carrier.
    var outlet: UInt64?
    /// True once the client has received `live`.
    var isLive = false
    let format: PushFormat
    /// Number of answers of the log that the subscriber waits for. It gets no messages until all have arrived. The
    /// first is the room's state. Later ones are slices of changes, or tell whether the user may still read the room.
    var awaited: UInt32 = 1

    /// True if the subscriber gets its next messages from the feed.
    var isFed: Bool { isLive && awaited == 0 }

    /// The revision, format and outlet for a push; `nil` if the subscriber does not get its next messages that way.
    var push: (rev: Int64, format: PushFormat, outlet: UInt64)? {
        guard isFed, let outlet else { return nil }
        return (rev, format, outlet)
    }
}
