import Wire

/// How far there is nothing to read for a user behind the read mark: only messages of the user's own, and deleted ones.
///
/// That stays so for ever: nobody's message becomes somebody else's, no tombstone comes back to life, and no mark moves
/// back. So who has a hundred thousand messages of their own behind the mark has them looked through once, and not each
/// time that the room is looked at.
struct ClearedRuns {
    /// How long a run is at least that is worth remembering, in messages.
    static let minimum: Int64 = 256
    /// How many are remembered. When there are more, all are found anew.
    static let limit = 16_384

    private struct Key: Hashable {
        let room: Int64
        let user: UserID
    }

    private var ends: [Key: Int64] = [:]

    /// Up to which `seq` there is nothing to read behind the mark; 0 when that is not known.
    func end(of room: Int64, for user: UserID) -> Int64 {
        ends.isEmpty ? 0 : ends[Key(room: room, user: user)] ?? 0
    }

    /// There is nothing to read for a user from `start` through `end`.
    mutating func add(_ room: Int64, for user: UserID, from start: Int64, through end: Int64) {
        guard end - start >= Self.minimum else { return }
        if ends.count >= Self.limit { ends.removeAll() }
        ends[Key(room: room, user: user)] = end
    }
}
