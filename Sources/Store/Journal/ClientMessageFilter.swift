import Glibc

/// Knows of nearly every client message id that is new that it is: then nobody has to look it up in the database, where
/// nearly every send would find nothing.
///
/// A Bloom filter: a key sets four bits of one word, and a key of which one bit is not set has never been added. It is asked
/// about rooms only of which it has been given *every* key: rooms that were made, or had no message, when the writer first
/// heard of them, and rooms whose keys were read from the database. Which these are the rooms say themselves
/// (``RoomTable/Room/filter``), by the number that the filter had then: once it is full it forgets all keys and has another
/// number, and so knows no room any more. Keys stay when their messages are edited or deleted, as the rows of these do. A
/// key too many, of a commit that failed, costs a look-up and nothing else.
///
/// Confined to the writer's thread.
final class ClientMessageFilter {
    /// How many keys there may be: one for each sixteen bits, with which fewer than one look-up in a hundred is for nothing.
    let capacity: Int
    /// What rooms are marked with whose keys are all here; never 0.
    private(set) var number: UInt32 = 1
    private var count = 0
    // Allocated in `init` and freed in `deinit`, with as many words as `mask` has indices; touched by methods only. Not an
    // array: what comes from `calloc` takes no memory until it is written to.
    private var words: UnsafeMutablePointer<UInt64>
    private let mask: Int

    /// An empty filter of this many bytes, rounded down to a power of two, 8 at least.
    init(bytes: Int) {
        let size = max(1, bytes / 8)
        let wordCount = 1 << (Int.bitWidth - 1 - size.leadingZeroBitCount)
        mask = wordCount - 1
        capacity = wordCount * 4
        words = Self.allocate(wordCount)
    }

    deinit {
        free(words)
    }

    /// Adds the hash of a key in a room.
    func insert(_ hash: UInt64) {
        if count == capacity { forget() }
        count += 1
        words[Self.index(hash, mask)] |= Self.bits(hash)
    }

    /// Whether a key of this hash may have been added. When not, it has not.
    func mayContain(_ hash: UInt64) -> Bool {
        let bits = Self.bits(hash)
        return words[Self.index(hash, mask)] & bits == bits
    }

    private func forget() {
        free(words)
        words = Self.allocate(mask + 1)
        count = 0
        number = number == .max ? 1 : number + 1
    }

    private static func index(_ hash: UInt64, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: hash >> 24) & mask
    }

    private static func bits(_ hash: UInt64) -> UInt64 {
        1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63) | 1 << (hash >> 18 & 63)
    }

    private static func allocate(_ count: Int) -> UnsafeMutablePointer<UInt64> {
        guard let words = calloc(count, MemoryLayout<UInt64>.stride) else { fatalError("there is no memory left") }
        // Zeros are numbers, and `calloc` aligns for any of C's types.
        return words.bindMemory(to: UInt64.self, capacity: count)
    }
}
