import Synchronization
public import Wire

/// Which loops have subscribers of which room: what a commit asks to learn to whom it matters.
///
/// A loop says that it is interested before it reads where the room is; so what is committed after that read reaches
/// it, and what came before is in the read. Nothing falls in between.
public final class Interest: Sendable {
    /// How many loops there may be: one bit each.
    public static let maximumLoops = 64

    private let masks = Mutex<[RoomID: UInt64]>([:])

    /// Nobody is interested in anything.
    public init() {}

    /// Loop `loop` wants the changes of `room` from now on.
    public func add(_ room: RoomID, loop: Int) {
        masks.withLock { $0[room, default: 0] |= 1 << UInt64(loop) }
    }

    /// Loop `loop` does not want the changes of `room` any more.
    public func remove(_ room: RoomID, loop: Int) {
        masks.withLock { masks in
            guard let mask = masks[room] else { return }
            let left = mask & ~(1 << UInt64(loop))
            masks[room] = left == 0 ? nil : left
        }
    }

    /// Hands each batch to the loops that want it: element `i` of the answer is for loop `i`. What nobody wants is not
    /// even encoded.
    public func distribute(_ batches: [Batch], loops: Int) -> [[FramedBatch]] {
        var all = Array(repeating: [FramedBatch](), count: loops)
        let wanted = masks.withLock { masks in batches.map { masks[$0.room] ?? 0 } }
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
