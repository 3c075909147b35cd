/// Knows of nearly every client message id that is new that it is: then nobody has to look it up in the database, where
/// nearly every send would find nothing.
///
/// Bloom filters, each with twice the room of the one before: so it has no more bytes than the ids that have come need. A key
/// sets four bits of one word, and a key of which one bit is not set in any of them has never been added. It is asked
/// about rooms only of which it has been given *every* key: rooms that were made, or had no message, when the writer first
/// heard of them, and rooms whose keys were read from the database. Which these are the rooms say themselves
/// (``RoomTable/Room/filter``), by the number that the filter had then: once it is full it forgets all keys and has another
/// number, and so knows no room any more. Keys stay when their messages are edited or deleted, as the rows of these do. A
/// key too many, of a commit that failed, costs a look-up and nothing else.
///
/// Confined to the writer's thread.
final class ClientMessageFilter {
    /// The bytes of the first filter, 64 KiB: 32,768 keys.
    static let firstBytes = 64 * 1024

    /// Maximum number of keys: one for each sixteen bits, with which fewer than one look-up in a hundred is for nothing
    /// as long as there is one filter, and fewer than one in thirty when there are seven.
    let capacity: Int
    /// What rooms are marked with whose keys are all here; never 0.
    private(set) var number: UInt32 = 1
    /// The number of bytes now.
    var byteCount: Int { filters.reduce(0) { $0 + $1.words.count * 8 } }

    private var filters: [Words]
    private let firstCount: Int
    private var count = 0

    /// A power of two of words, and how many keys are in them.
    private struct Words {
        var words: [UInt64]
        var count = 0

        init(count: Int) {
            words = Array(repeating: 0, count: count)
        }

        var isFull: Bool { count == words.count * ClientMessageFilter.keysOfWord }

        mutating func insert(_ hash: UInt64) {
            count += 1
            words[index(hash)] |= Self.bits(hash)
        }

        func mayContain(_ hash: UInt64) -> Bool {
            let bits = Self.bits(hash)
            return words[index(hash)] & bits == bits
        }

        private func index(_ hash: UInt64) -> Int {
            Int(truncatingIfNeeded: hash >> 24) & (words.count - 1)
        }

        private static func bits(_ hash: UInt64) -> UInt64 {
            1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63) | 1 << (hash >> 18 & 63)
        }
    }

    private static let keysOfWord = 4

    /// An empty filter that will have this many bytes at most, 8 at least.
    init(bytes: Int) {
        let most = max(1, bytes / 8)
        firstCount = 1 << (Int.bitWidth - 1 - min(most, Self.firstBytes / 8).leadingZeroBitCount)
        var total = firstCount
        var next = firstCount * 2
        while total + next <= most {
            total += next
            next *= 2
        }
        capacity = total * Self.keysOfWord
        filters = [Words(count: firstCount)]
    }

    /// Adds the hash of a key in a room.
    func insert(_ hash: UInt64) {
        if count == capacity { forget() }
        if filters[filters.count - 1].isFull { filters.append(Words(count: firstCount << filters.count)) }
        count += 1
        filters[filters.count - 1].insert(hash)
    }

    /// Returns whether a key of this hash may have been added. When not, it has not.
    func mayContain(_ hash: UInt64) -> Bool {
        for index in filters.indices where filters[index].mayContain(hash) { return true }
        return false
    }

    private func forget() {
        filters = [Words(count: firstCount)]
        count = 0
        number = number == .max ? 1 : number + 1
    }
}
