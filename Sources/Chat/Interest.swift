import Synchronization
public import Wire

/// Which loops have subscribers of which room: what a commit asks to learn to whom it matters.
///
/// A loop says that it is interested before it reads where the room is; so what is committed after that read reaches
/// it, and what came before is in the read. Nothing falls in between.
public final class Interest: Sendable {
    /// How many loops there may be: one bit each.
    public static let maximumLoops = 64

    private struct State {
        var masks: [RoomID: UInt64] = [:]
        var count = 0
    }

    private let state = Mutex(State())

    /// Nobody is interested in anything.
    public init() {}

    /// How many rooms are wanted, each counted once for every loop that wants it.
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
        for (batch, mask) in zip(batches, wanted) where mask != 0 {
            let framed = FramedBatch(batch)
            var mask = mask
            while mask != 0 {
                all[mask.trailingZeroBitCount].append(framed)
                mask &= mask - 1
            }
        }
        return all
    }
}
