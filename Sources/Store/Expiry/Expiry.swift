import Wire

/// The schedule of message expiry: when the next step is due, and which rooms it examines.
///
/// Times never fall along `seq`, so the expired messages of a room are its first ones. One look at the first message
/// that is not a tombstone of expiry shows whether any are due. This avoids an index on times, which every send would
/// have to maintain.
///
/// A round examines every room, a bounded number in each step, and expires a bounded number of messages. Rounds repeat
/// until one finds nothing.
///
/// Each step is a small commit, and steps are paced: subscribers are told of every message that expires, and sends wait
/// for the commit.
///
/// A plain value. The caller performs the steps and reports their results.
struct Expiry {
    /// The bounds of a step, and the pauses between steps.
    struct Limits {
        /// Maximum number of messages examined in one step.
        var messages: Int
        /// Maximum number of rooms examined in one step.
        var rooms: Int
        /// The pause between two steps.
        var pause: Duration
        /// The pause before the next round after one that found nothing.
        var interval: Duration
    }

    /// A room, with its expiry mark.
    struct Place {
        /// The room's number in the database.
        let number: Int64
        /// The room.
        let room: RoomID
        /// The `seq` up to which its messages have expired.
        let mark: Int64
    }

    /// The result of a step.
    struct Step {
        /// The last room completed; `nil` if the round has no rooms left.
        var lastRoom: Int64?
        /// The number of messages that expired.
        var expired = 0
        /// True if a room may have more expired messages.
        var hasMore = false
    }

    /// The time when the next step is due.
    private(set) var next: ContinuousClock.Instant
    /// The number of the room after which the next step continues.
    private(set) var room: Int64 = 0
    private let limits: Limits
    /// Up to this room number, each step examines one room.
    private var cautiousUntil: Int64 = 0
    private var hasMore = false
    /// The number of messages that expired since a round last found none.
    private var expired = 0

    /// Schedules the first step at `now`.
    init(_ limits: Limits, at now: ContinuousClock.Instant) {
        self.limits = limits
        next = now
    }

    /// Maximum number of messages that the next step examines.
    var mostMessages: Int { limits.messages }

    /// Maximum number of rooms that the next step examines.
    var mostRooms: Int { room < cautiousUntil ? 1 : limits.rooms }

    /// Records a completed step.
    ///
    /// - Returns: when a round has found nothing, the number of messages that expired in the rounds before it; `nil`
    ///   otherwise, or if there were none.
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

    /// Records a failed step, whose changes were rolled back. Its rooms are then examined one by one, so that a room
    /// whose messages cannot be changed does not keep others from expiring.
    ///
    /// - Parameter lastRoom: the last room examined; `nil` if none could be.
    /// - Returns: true for the first failure of a round, which is worth reporting.
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
