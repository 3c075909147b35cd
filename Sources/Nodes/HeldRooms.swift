package import Chat
package import Wire

/// The changes of rooms that another transaction has locked for longer than ``StoreConfiguration/roomLockTime``, such as
/// that of a node that was stopped, or of an operator.
///
/// They wait here, in order, while the writer commits those of other rooms. It asks every ``interval`` which of the
/// rooms are free again.
///
/// A plain value.
package struct HeldRooms {
    /// Time between two checks for rooms that are free again: 50 ms.
    package static let interval = Duration.milliseconds(50)

    private var submissions: [RoomID: [Submission]] = [:]
    /// The number of held submissions.
    package private(set) var count = 0
    /// The time of the next check; `nil` if no room is held.
    package private(set) var nextCheck: ContinuousClock.Instant?

    /// Creates a value without rooms.
    package init() {}

    /// The held rooms.
    package var rooms: [RoomID] { Array(submissions.keys) }

    /// Holds the submissions of these rooms.
    ///
    /// - Returns: The others, in order.
    package mutating func hold(
        _ rooms: Set<RoomID>, of new: ArraySlice<Submission>, at now: ContinuousClock.Instant
    ) -> ArraySlice<Submission> {
        for room in rooms where submissions[room] == nil { submissions[room] = [] }
        nextCheck = nextCheck ?? now + Self.interval
        return holdBack(new)
    }

    /// Holds back the submissions of rooms that are held already, so that they stay behind the earlier ones.
    ///
    /// - Returns: The others, in order.
    package mutating func holdBack(_ new: ArraySlice<Submission>) -> ArraySlice<Submission> {
        if submissions.isEmpty { return new }
        var others: [Submission] = []
        for submission in new {
            if let room = submission.room, submissions[room] != nil {
                submissions[room]!.append(submission)
                count += 1
            } else {
                others.append(submission)
            }
        }
        return others[...]
    }

    /// Takes out all submissions except those of the rooms that are still locked.
    package mutating func release(except locked: Set<RoomID>, at now: ContinuousClock.Instant) -> [Submission] {
        var free: [Submission] = []
        for (room, held) in submissions where !locked.contains(room) {
            free += held
            submissions[room] = nil
        }
        count -= free.count
        nextCheck = submissions.isEmpty ? nil : now + Self.interval
        return free
    }

    /// Replaces the submissions of each room by those that `body` returns of them.
    package mutating func filter(_ body: (ArraySlice<Submission>) -> ArraySlice<Submission>) {
        count = 0
        for (room, held) in submissions {
            submissions[room] = Array(body(held[...]))
            count += submissions[room]!.count
        }
    }
}
