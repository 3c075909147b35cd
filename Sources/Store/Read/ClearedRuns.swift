import Wire

/// A cache of runs of messages after a user's read mark that hold nothing unread: only the user's own messages and
/// tombstones.
///
/// A run never becomes unread. A message changes its sender only when it becomes a tombstone, and tombstones stay. A
/// mark moves back only when its user is erased; then the run still holds from its own start. So the messages of a run
/// are examined once, not on each read of the room.
struct ClearedRuns {
    /// Minimum length of a run to remember, in messages.
    static let minimum: Int64 = 256
    /// Maximum number of runs remembered. Beyond it the cache is emptied.
    static let limit = 16_384

    private struct Key: Hashable {
        let room: Int64
        let user: UserID
    }

    private var runs: [Key: ClosedRange<Int64>] = [:]

    /// Returns the `seq` up to which nothing after `place` is unread; 0 if unknown.
    func end(of room: Int64, for user: UserID, after place: Int64) -> Int64 {
        guard !runs.isEmpty, let run = runs[Key(room: room, user: user)], run.lowerBound <= place else { return 0 }
        return run.upperBound
    }

    /// Records that the messages from `start` through `end` hold nothing unread for a user.
    mutating func add(_ room: Int64, for user: UserID, from start: Int64, through end: Int64) {
        guard end - start >= Self.minimum else { return }
        if runs.count >= Self.limit { runs.removeAll() }
        let key = Key(room: room, user: user)
        // The run extends the known one if it starts where that one ends; otherwise it replaces it.
        let known = runs[key].flatMap { $0.upperBound == start ? $0.lowerBound : nil }
        runs[key] = (known ?? start)...end
    }
}
