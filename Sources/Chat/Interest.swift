import Synchronization
public import Wire

/// Which loops have subscribers of which room, and who there follows the rooms of which user: what a commit asks to learn
/// to whom it matters.
///
/// A loop says that it is interested before it reads where the room is, or which rooms the user has; so what is committed
/// after that read reaches it, and what came before is in the read. Nothing falls in between.
public final class Interest: Sendable {
    /// Maximum number of loops: one bit each.
    public static let maximumLoops = 64

    private struct State {
        var masks: [RoomID: UInt64] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    /// The loops that follow a user's rooms. Apart from the rest, which every commit asks for.
    private let followers = Mutex<[UserID: UInt64]>([:])

    /// Nobody is interested in anything.
    public init() {}

    /// The number of rooms that are wanted, each counted once for every loop that wants it.
    public var count: Int { state.withLock { $0.count } }

    /// Loop `loop` wants the changes of `room` from now on.
    public func add(_ room: RoomID, loop: Int) {
        state.withLock { state in
            let mask = state.masks[room] ?? 0
            let more = mask | 1 << UInt64(loop)
            guard more != mask else { return }
            state.masks[room] = more
            state.count += 1
        }
    }

    /// Loop `loop` does not want the changes of `room` any more.
    public func remove(_ room: RoomID, loop: Int) {
        state.withLock { state in
            guard let mask = state.masks[room] else { return }
            let left = mask & ~(1 << UInt64(loop))
            guard left != mask else { return }
            state.masks[room] = left == 0 ? nil : left
            state.count -= 1
        }
    }

    /// Loop `loop` wants to know from now on which rooms `user` joins and leaves.
    public func follow(_ user: UserID, loop: Int) {
        followers.withLock { $0[user, default: 0] |= 1 << UInt64(loop) }
    }

    /// Loop `loop` does not want to know it any more.
    public func unfollow(_ user: UserID, loop: Int) {
        followers.withLock { followers in
            guard let mask = followers[user] else { return }
            let left = mask & ~(1 << UInt64(loop))
            followers[user] = left == 0 ? nil : left
        }
    }

    /// Hands each change to the loops that follow its user, in order: element `i` of the answer is for loop `i`.
    public func distribute(_ changes: [MembershipChange], loops: Int) -> [[MembershipChange]] {
        var all = Array(repeating: [MembershipChange](), count: loops)
        let wanted = followers.withLock { followers in
            followers.isEmpty ? [] : changes.map { followers[$0.user] ?? 0 }
        }
        for (change, mask) in zip(changes, wanted) {
            for loop in 0..<loops where mask & 1 << UInt64(loop) != 0 { all[loop].append(change) }
        }
        return all
    }

    /// Hands each notice to the loops that want its room: element `i` of the answer is for loop `i`.
    public func distribute(_ notices: [FramedNotice], loops: Int) -> [[FramedNotice]] {
        var all = Array(repeating: [FramedNotice](), count: loops)
        let wanted = state.withLock { state in notices.map { state.masks[$0.room] ?? 0 } }
        for (notice, mask) in zip(notices, wanted) {
            for loop in 0..<loops where mask & 1 << UInt64(loop) != 0 { all[loop].append(notice) }
        }
        return all
    }

    /// Hands each batch to the loops that want it: element `i` of the answer is for loop `i`. What nobody wants is not
    /// even encoded.
    public func distribute(_ batches: [Batch], loops: Int) -> [[FramedBatch]] {
        var all = Array(repeating: [FramedBatch](), count: loops)
        let wanted = state.withLock { state in batches.map { state.masks[$0.room] ?? 0 } }
        for index in batches.indices where wanted[index] != 0 {
            let framed = FramedBatch(batches[index])
            var mask = wanted[index]
            while mask != 0 {
                let loop = mask.trailingZeroBitCount
                // No more than these can follow.
                if all[loop].isEmpty { all[loop].reserveCapacity(batches.count - index) }
                all[loop].append(framed)
                mask &= mask - 1
            }
        }
        return all
    }
}
