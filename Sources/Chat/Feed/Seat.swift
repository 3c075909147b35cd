/// A subscriber's place in its feed's table, and what a push has to know of it.
///
/// Between two writes to the kernel nothing is left in the processor's cache, and each object on the way to a client would
/// be waited for. Seats lie side by side, so the next ones are there when their turn comes.
struct Seat {
    /// Who sits here.
    let subscription: Subscription
    /// The revision up to which the client has everything.
    var rev: Int64
    /// Where its bytes may go without a look at what carries it; `nil` when they have to come by.
    var outlet: PushOutlet?
    /// True if the client has been told that it has caught up.
    var isLive = false
    /// How its client wants messages framed.
    let format: PushFormat
    /// The number of answers of the log it waits for before it gets more: where its room is, to begin with; a slice of
    /// what it lacks; and whether its user may still read the room, each time that this is asked.
    var awaited: UInt32 = 1

    /// True if the feed is what comes next for it.
    var isFed: Bool { isLive && awaited == 0 }
}
