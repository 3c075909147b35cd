import Wire

/// A set of Bloom filters that recognizes nearly every new client message id as new. A send with such an id needs no
/// lookup in the database.
///
/// The lookup would take some hundredths of a send's time (`scripts/compare --scenarios C`), and more than a tenth once
/// the index no longer fits into the writer's cache.
///
/// Each filter is twice as large as the one before, so the memory grows with the number of ids. A key sets four bits of
/// one word. If at least one of these bits is missing in every filter, the key was never added.
///
/// A room may use the filter only if *all* its keys were added. That is so if the room had no messages when the
/// writer created it or first used it, or if its keys were read from the database. Such a room stores the filter's
/// number (``RoomTable/Room/filter``). A full filter drops all keys and takes another number, so that no room has
/// its number any more. Keys stay when their messages are edited or deleted, because their rows stay too. The key of a
/// failed commit stays as well, and costs at most one lookup.
///
/// Confined to the writer's thread.
final class ClientMessageFilter {
    /// Size of the first filter in bytes: 64 KiB, for 32,768 keys.
    static let firstBytes = 64 * 1024

    /// Maximum number of keys: one for every sixteen bits. With one full filter, fewer than one new id in a hundred
    /// causes a needless lookup; with seven, fewer than one in twenty-five.
    let capacity: Int
    /// The number that a room stores once all its keys were added; never 0.
    private(set) var number: UInt32 = 1
    /// The current size in bytes.
    var byteCount: Int { filters.reduce(0) { $0 + $1.words.count * 8 } }

    private var filters: [Words]
    private let firstCount: Int
    private var count = 0

    /// One filter: a power of two of words, and the number of its keys.
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

    /// Creates an empty filter of at most `bytes` bytes, but at least 8.
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

    /// Returns false if no key with this hash was added.
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

/// The key of a client message id, which is unique for each sender in a room.
struct ClientMessageKey {
    let sender: UserID
    let id: String
    /// The key's hash, the same until the process ends.
    let hash: UInt64

    init(sender: UserID, id: String) {
        self.sender = sender
        self.id = id
        hash = sender.string.withUTF8Span { sender in id.withUTF8Span { Self.hash(sender: sender, id: $0) } }
    }

    /// Returns the hash of a key with these bytes.
    ///
    /// Multiplies words and folds the products, as wyhash does, which is faster than `Hasher`. Without the process's
    /// secret nobody can choose keys that collide. Collisions would only make lookups slower.
    static func hash(sender: Span<UInt8>, id: Span<UInt8>) -> UInt64 {
        let secret = secret
        return mixed(fold(id, into: mixed(fold(sender, into: secret.start), secret.between)), secret.end)
    }

    /// Returns the hash of the key in a room.
    func hash(in room: Int64) -> UInt64 {
        Self.hash(hash, in: room)
    }

    /// Returns the hash of a key in a room from the key's hash.
    static func hash(_ hash: UInt64, in room: Int64) -> UInt64 {
        mixed(hash ^ UInt64(bitPattern: room), secret.room)
    }

    private static let secret = (
        start: UInt64.random(), word: UInt64.random(), between: UInt64.random(), end: UInt64.random(),
        room: UInt64.random()
    )

    private static func fold(_ bytes: Span<UInt8>, into start: UInt64) -> UInt64 {
        var hash = start ^ UInt64(truncatingIfNeeded: bytes.count)
        let word = secret.word
        var offset = 0
        while offset + 8 <= bytes.count {
            // The load checks the bounds; any eight bytes are a valid UInt64.
            hash = mixed(hash ^ bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self), word)
            offset += 8
        }
        guard offset < bytes.count else { return hash }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return mixed(hash ^ rest, word)
    }

    private static func mixed(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let (high, low) = a.multipliedFullWidth(by: b)
        return high ^ low
    }
}

extension UInt64 {
    /// Returns a random odd number. Multiplying by it loses no bits.
    fileprivate static func random() -> UInt64 {
        random(in: .min ... .max) | 1
    }
}
