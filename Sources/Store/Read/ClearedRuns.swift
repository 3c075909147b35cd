import Wire

/// Runs of messages behind a user's read mark that hold nothing to read: only the user's own messages, and deleted ones.
///
/// A run stays as it is. A message changes its sender only when it becomes a tombstone, tombstones stay, and a mark moves
/// back only when its user is erased; a run counts from its own beginning then. So messages of one's own behind the mark are
/// looked through once, not each time that the room is read, however many they are.
struct ClearedRuns {
    /// Minimum length of a run that is worth remembering, in messages.
    static let minimum: Int64 = 256
    /// Maximum number of runs that are remembered. With more, all are forgotten and found again.
    static let limit = 16_384

    private struct Key: Hashable {
        let room: Int64
        let user: UserID
    }

    private var runs: [Key: ClosedRange<Int64>] = [:]

    /// The `seq` up to which there is nothing to read behind `place`; 0 when that is not known.
    func end(of room: Int64, for user: UserID, after place: Int64) -> Int64 {
        guard !runs.isEmpty, let run = runs[Key(room: room, user: user)], run.lowerBound <= place else { return 0 }
        return run.upperBound
    }

    /// There is nothing to read for a user from `start` through `end`.
    mutating func add(_ room: Int64, for user: UserID, from start: Int64, through end: Int64) {
        guard end - start >= Self.minimum else { return }
        if runs.count >= Self.limit { runs.removeAll() }
        let key = Key(room: room, user: user)
        // It goes on where the one that is known ends, or is another one.
        let known = runs[key].flatMap { $0.upperBound == start ? $0.lowerBound : nil }
        runs[key] = (known ?? start)...end
    }
}
