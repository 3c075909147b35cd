import Synchronization
public import Wire

/// The loops that have subscribers of each room, and those that follow each user's rooms. A commit is passed to these
/// loops only.
///
/// A loop registers before it reads the room's state or the user's rooms. A later commit reaches the loop, and an
/// earlier one is included in the read, so nothing is missed.
public final class SubscribedLoops: Sendable {
    /// Maximum number of loops: one bit each.
    public static let maximumLoops = 64

    private struct State {
        var masks: [RoomID: UInt64] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    /// The loops that follow a user's rooms, under a lock of their own because every commit takes the other one.
    private let followers = Mutex<[UserID: UInt64]>([:])

    /// Creates a table without loops.
    public init() {}

    /// Number of rooms with subscribers, each counted once per loop that has some.
    public var count: Int { state.withLock { $0.count } }

    /// Sends later changes of `room` to loop `loop`.
    public func add(_ room: RoomID, loop: Int) {
        state.withLock { state in
            let mask = state.masks[room] ?? 0
            let more = mask | 1 << UInt64(loop)
            guard more != mask else { return }
            state.masks[room] = more
            state.count += 1
        }
    }

    /// Stops sending changes of `room` to loop `loop`.
    public func remove(_ room: RoomID, loop: Int) {
        state.withLock { state in
            guard let mask = state.masks[room] else { return }
            let left = mask & ~(1 << UInt64(loop))
            guard left != mask else { return }
            state.masks[room] = left == 0 ? nil : left
            state.count -= 1
        }
    }

    /// Returns true if a loop has subscribers of `room`. They are counted before the first slice of their replay is
    /// read.
    public func hasSubscribers(_ room: RoomID) -> Bool {
        state.withLock { $0.masks[room] != nil }
    }

    /// Sends later changes of the memberships of `user` to loop `loop`.
    public func follow(_ user: UserID, loop: Int) {
        followers.withLock { $0[user, default: 0] |= 1 << UInt64(loop) }
    }

    /// Stops sending changes of the memberships of `user` to loop `loop`.
    public func unfollow(_ user: UserID, loop: Int) {
        followers.withLock { followers in
            guard let mask = followers[user] else { return }
            let left = mask & ~(1 << UInt64(loop))
            followers[user] = left == 0 ? nil : left
        }
    }

    /// Divides changes, in order, among the loops that follow their users. Element `i` of the result is for loop `i`.
    public func distribute(_ changes: [MembershipChange], loops: Int) -> [[MembershipChange]] {
        let wanted = followers.withLock { followers in
            followers.isEmpty ? [] : changes.map { followers[$0.user] ?? 0 }
        }
        return divide(changes, among: wanted, loops)
    }

    /// Divides notices among the loops that follow their users' rooms. Element `i` of the result is for loop `i`.
    public func distribute(_ notices: [OwnNotice], loops: Int) -> [[OwnNotice]] {
        divide(notices, among: followers.withLock { followers in notices.map { followers[$0.user] ?? 0 } }, loops)
    }

    /// Divides notices among the loops with subscribers of their rooms. Element `i` of the result is for loop `i`.
    public func distribute(_ notices: [EncodedNotice], loops: Int) -> [[EncodedNotice]] {
        divide(notices, among: state.withLock { state in notices.map { state.masks[$0.room] ?? 0 } }, loops)
    }

    private func divide<Item>(_ items: [Item], among masks: [UInt64], _ loops: Int) -> [[Item]] {
        var parts = Array(repeating: [Item](), count: loops)
        for (item, mask) in zip(items, masks) {
            for loop in 0..<loops where mask & 1 << UInt64(loop) != 0 { parts[loop].append(item) }
        }
        return parts
    }

    /// Divides batches among the loops with subscribers of their rooms, and encodes each of these once. Element `i` of
    /// the result is for loop `i`.
    public func distribute(_ batches: [Batch], loops: Int) -> [[EncodedBatch]] {
        var all = Array(repeating: [EncodedBatch](), count: loops)
        let wanted = state.withLock { state in batches.map { state.masks[$0.room] ?? 0 } }
        for index in batches.indices where wanted[index] != 0 {
            let encoded = EncodedBatch(batches[index])
            var mask = wanted[index]
            while mask != 0 {
                let loop = mask.trailingZeroBitCount
                // The rest of the batches is an upper bound for this loop.
                if all[loop].isEmpty { all[loop].reserveCapacity(batches.count - index) }
                all[loop].append(encoded)
                mask &= mask - 1
            }
        }
        return all
    }
}
