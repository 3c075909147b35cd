import TextSearch
import Wire

/// Compares the table `words` with the texts of the messages that it covers.
///
/// Messages and changes that ``WordIndexer`` has not reached, and words that it is about to remove, are no damage.
struct WordCheck {
    let db: PostgresConnection
    let findings: Findings

    private static let advice = "build it again with backscroll index --rebuild"

    func run() throws {
        // Without its present version, the index is empty or to be built again.
        let version = try db.first("SELECT value FROM meta WHERE key = 'search_version'") { $0.text(0) }
        guard version == String(SearchTokens.version) else { return }
        try checkEnds()
        let blocks = WordBlocks(try db.run(WordBlocks.select))
        if blocks.blocks.isEmpty { return findings.add("the index for searches has no blocks; \(Self.advice)") }
        try checkMessages(blocks)
        try checkLeftovers()
    }

    private func checkEnds() throws {
        try db.forEach(
            """
            SELECT coalesce(name, '#' || room) FROM indexed LEFT JOIN rooms ON id = room
            WHERE id IS NULL OR deleted = 0 AND (seq > head OR indexed.rev > rooms.rev) ORDER BY room
            """
        ) { row in
            findings.add("the index for searches reaches beyond the room; \(Self.advice)", room: row.text(0))
        }
    }

    private func checkMessages(_ blocks: WordBlocks) throws {
        let select = db.prepare(
            """
            SELECT messages.id, messages.created_at, body, name, words.created_at,
                array_to_string(tsvector_to_array(tokens), ' ')
            FROM messages JOIN rooms ON rooms.id = messages.id >> \(RowKey.ordinalBits)
                JOIN indexed ON indexed.room = rooms.id LEFT JOIN words ON message = messages.id
            WHERE deleted = 0 AND searchable = 1 AND messages.id & \(RowKey.maximumOrdinal) <= indexed.seq
                AND coalesce(changed & \(RowKey.maximumOrdinal), 0) <= indexed.rev
            ORDER BY messages.id
            """, isLong: true)
        try select.forEachRow { row in
            let key = RowKey(rawValue: row.integer(0))
            let (createdAt, message) = (row.integer(1), try Message(decoding: row.bytes(2)))
            let problem: String?
            if message.content.text.isEmpty {
                problem = row.isNull(4) ? nil : "words of a message without text"
            } else if row.isNull(4) {
                problem = "no words of this message"
            } else {
                let words = blocks.tokens(of: message.content.text, in: key.room, at: createdAt)
                let isRight = row.integer(4) == createdAt && Self.split(words) == Self.split(row.text(5))
                problem = isRight ? nil : "other words than this message"
            }
            if let problem {
                findings.add(
                    "the index for searches has \(problem); \(Self.advice)", room: row.text(3), seq: key.ordinal)
            }
        }
    }

    private static func split(_ words: String) -> Set<[UInt8]> {
        Set(words.utf8.split(separator: UInt8(ascii: " ")).map(Array.init))
    }

    /// Looks for words of messages that do not exist, and of rooms that are neither indexed nor being removed.
    private func checkLeftovers() throws {
        let select = db.prepare(
            """
            SELECT message, coalesce(name, '#' || (message >> \(RowKey.ordinalBits)))
            FROM words LEFT JOIN rooms ON rooms.id = message >> \(RowKey.ordinalBits)
                LEFT JOIN indexed ON indexed.room = rooms.id LEFT JOIN messages ON messages.id = message
            WHERE CASE WHEN deleted = 0 THEN indexed.room IS NULL OR searchable = 1 AND messages.id IS NULL
                ELSE rooms.id IS NULL OR rooms.id NOT IN (SELECT number FROM jobs WHERE kind = 'room') END
            ORDER BY message
            """, isLong: true)
        try select.forEachRow { row in
            findings.add(
                "the index for searches has words of no message; \(Self.advice)", room: row.text(1),
                seq: RowKey(rawValue: row.integer(0)).ordinal)
        }
    }
}
