import Wire

/// The time when messages expire, and in which rooms the next ones are looked for.
///
/// Times never fall along `seq`, so the messages of a room that are too old are its first ones, and one look at the first
/// that has not expired tells whether there are any. A round asks every room in turn, some at a time, and takes a bounded
/// number of messages from those that have any; rounds follow one another until one has found nothing. That spares an
/// index of times, which every send would have to keep up.
///
/// Each step is a small commit at a bounded pace, however much is sent: subscribers hear of every message that expires,
/// and senders wait for a commit that has some of them.
///
/// A plain value: it says what to look for and when, and is told what came of it.
struct Expiry {
    /// How much is done, and how often.
    struct Limits {
        /// The most messages of one step.
        var messages: Int
        /// The most rooms that one step asks.
        var rooms: Int
        /// The pause between two steps.
        var pause: Duration
        /// The pause before the next round after one that has found nothing.
        var interval: Duration
    }

    /// A room that has messages that are too old.
    struct Place {
        /// The room's number in the database.
        let number: Int64
        /// The room.
        let room: RoomID
        /// Up to where its messages have expired.
        let mark: Int64
    }

    /// What came of a step.
    struct Step {
        /// The last room that is done with; `nil` when none was left in this round.
        var lastRoom: Int64?
        /// The number of messages that have expired.
        var expired = 0
        /// True if a room may have more of them.
        var hasMore = false
    }

    /// The time when the next step is due.
    private(set) var next: ContinuousClock.Instant
    /// The room behind which the next step goes on, by its number.
    private(set) var room: Int64 = 0
    private let limits: Limits
    /// Up to this room they are asked one by one.
    private var cautiousUntil: Int64 = 0
    private var hasMore = false
    /// The number of messages that have expired since a round has found none.
    private var expired = 0

    /// The first step is due at `now`.
    init(_ limits: Limits, at now: ContinuousClock.Instant) {
        self.limits = limits
        next = now
    }

    /// The most messages that the next step takes.
    var mostMessages: Int { limits.messages }

    /// The most rooms that the next step asks.
    var mostRooms: Int { room < cautiousUntil ? 1 : limits.rooms }

    /// A step has been made.
    ///
    /// - Returns: how many messages have expired since this was last said, when there are no more for now, and any did.
    mutating func made(_ step: Step, at now: ContinuousClock.Instant) -> Int? {
        next = now + limits.pause
        expired += step.expired
        hasMore = hasMore || step.hasMore
        if let lastRoom = step.lastRoom {
            room = lastRoom
            return nil
        }
        let isPassOver = !hasMore
        (room, hasMore, cautiousUntil) = (0, false, 0)
        guard isPassOver else { return nil }
        next = now + limits.interval
        defer { expired = 0 }
        return expired > 0 ? expired : nil
    }

    /// A step has failed, and nothing of it lasts. Its rooms are asked one by one then, so that a room whose messages
    /// cannot be changed keeps only itself from being done.
    ///
    /// - Parameter lastRoom: the last room that it has asked; `nil` when it could not ask any.
    /// - Returns: whether that is news in this round.
    mutating func failed(_ lastRoom: Int64?, at now: ContinuousClock.Instant) -> Bool {
        next = now + limits.pause
        guard let lastRoom else {
            next = now + limits.interval
            return true
        }
        guard room >= cautiousUntil else {
            room = lastRoom
            return false
        }
        cautiousUntil = lastRoom
        return true
    }
}
