import TextSearch
import Wire

/// Compares the index of words with the texts of the messages that it covers.
///
/// FTS5 lists its entries by word, and the messages are listed by room. So each room has a sum over its entries, in any
/// order, of the index and of the messages.
struct SearchCheck {
    let db: SQLiteConnection
    let findings: Findings

    /// A sum over pairs of a word and a message.
    private struct Sum: Equatable {
        private var count: Int64 = 0
        private var hashes: UInt64 = 0

        /// Adds an entry; takes it away again with a negative `sign`.
        mutating func add(_ word: Span<UInt8>, _ message: RowKey, sign: Int64) {
            // FNV-1a, and a multiplication that mixes in the message.
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for index in word.indices { hash = (hash ^ UInt64(word[index])) &* 0x100_0000_01B3 }
            hash = (hash ^ UInt64(bitPattern: message.rawValue)) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
            count += sign
            hashes = sign > 0 ? hashes &+ hash : hashes &- hash
        }
    }

    func run() throws {
        // Words of another version are made again by the next server.
        let version = try db.first("SELECT value FROM meta WHERE key = 'search_version'") { $0.text(0) }
        guard version == String(SearchTokens.version) else { return }
        var sums: [Int64: Sum] = [:]
        let ends = try db.all("SELECT room, seq FROM indexed") { ($0.integer(0), $0.integer(1)) }
        for (room, end) in ends {
            var sum = Sum()
            try db.forEach(
                "SELECT id, body FROM messages WHERE id > $1 AND id <= $2", RowKey(room: room, 0),
                RowKey(room: room, end)
            ) { row in
                for word in SearchTokens.distinct(of: SearchIndex.text(of: row.bytes(1))) {
                    word.withUTF8Span { sum.add($0, RowKey(rawValue: row.integer(0)), sign: 1) }
                }
            }
            sums[room] = sum
        }
        try db.execute("CREATE VIRTUAL TABLE temp.word_rows USING fts5vocab(main, words, instance)")
        defer { try? db.execute("DROP TABLE temp.word_rows") }
        try db.forEach("SELECT term, doc FROM temp.word_rows") { row in
            let message = RowKey(rawValue: row.integer(1))
            row.withBytes(0) { sums[message.room, default: Sum()].add($0, message, sign: -1) }
        }
        for (room, sum) in sums.sorted(by: { $0.key < $1.key }) where sum != Sum() {
            let name = try db.first("SELECT name FROM rooms WHERE id = $1", room) { $0.text(0) }
            findings.add(
                "the index for searches differs from the messages; build it again with backscroll index --rebuild",
                room: name ?? "#\(room)")
        }
    }
}
