/// A subscriber's cursor in the messages of its room, with what a push has to know of the subscriber.
///
/// Only the feed reads and changes cursors. They lie side by side, two in a line of the processor's cache, because between
/// two writes to the kernel the cache is lost: a push touches no other object of the subscriber.
struct Cursor {
    /// The subscriber.
    let subscription: Subscription
    /// The revision up to which the client has everything.
    var rev: Int64
    /// The number of the socket for ``Outlets/push(_:to:)``; `nil` if all bytes must go through the carrier.
    var outlet: UInt64?
    /// True once the client has been told that it has caught up.
    var isLive = false
    /// The format in which the client wants messages.
    let format: PushFormat
    /// Number of answers of the log that the subscriber waits for before it gets more: at first where its room is, later a
    /// slice of what it lacks, or whether its user may still read the room.
    var awaited: UInt32 = 1

    /// True if the subscriber's next messages come from the feed.
    var isFed: Bool { isLive && awaited == 0 }
}
