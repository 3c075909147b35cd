import Wire

/// How far there is nothing to read for a user behind the read mark: only messages of the user's own, and deleted ones.
///
/// That stays so: nobody's message becomes somebody else's but a tombstone's, no tombstone comes back to life, and no mark
/// moves back but that of a user who is erased, for whom a run counts from where it begins. So who has a hundred thousand messages of their own behind the mark has them looked through once, and not each
/// time that the room is looked at.
struct ClearedRuns {
    /// Minimum length of a run that is worth remembering, in messages.
    static let minimum: Int64 = 256
    /// How many are remembered. When there are more, all are found anew.
    static let limit = 16_384

    private struct Key: Hashable {
        let room: Int64
        let user: UserID
    }

    private var runs: [Key: ClosedRange<Int64>] = [:]

    /// Up to which `seq` there is nothing to read behind `place`; 0 when that is not known.
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
