import TextSearch
import Wire

/// Puts the words of messages into the table `words`. Runs on one node at a time.
///
/// The table `indexed` has for each room the highest `seq` that is indexed, and the revision up to which changes of these
/// messages are. A room's commits have one order, so nothing is missed, whichever node or version made them, and sends
/// do no work for the index.
struct WordIndexer {
    /// Maximum number of messages that one transaction indexes.
    private static let batch: Int64 = 256
    /// Time between two checks for rooms with new messages: 500 ms. It is longer if a check takes long, see ``share``.
    private static let interval = Duration.milliseconds(500)
    /// Minimum time between two checks, as a multiple of the time that a check takes.
    private static let share = 20
    /// Rate of sends, in messages a second, beyond which indexing slows down. Otherwise a flood of sends takes twice as long
    /// (E of `scripts/compare --store postgres`).
    private static let busyRate = 5000.0
    /// Pause after a step of indexing during a flood of sends, as a multiple of the time that the step has taken.
    private static let busyShare = 30
    /// Time before indexing continues after a failure: 10 seconds.
    static let retry = Duration.seconds(10)
    /// Number of messages from which the blocks of a new index are chosen.
    private static let sample: Int64 = 100_000

    private let db: PostgresConnection
    /// False if only messages are looked at that are indexed already, since this node does not search.
    private let addsMessages: Bool
    /// Number of messages after which a new block begins.
    private let blockMessages: Int64
    private var blocks: WordBlocks?
    /// The rooms that are behind.
    private var rooms: [Int64] = []
    /// True once this node has noted that all rooms were indexed.
    private var isBuilt = false
    /// The progress of the first index: the number of messages to index, the number of indexed ones, and the percentage
    /// that is stored in the table `meta`.
    private var (total, done, stored): (Int64, Int64, Int64) = (0, 0, 0)
    /// The last count of the messages of all rooms, and when they are counted again.
    private var count: (time: ContinuousClock.Instant, messages: Int64, next: ContinuousClock.Instant)?
    /// True while more than ``busyRate`` messages a second are sent.
    private var isBusy = false
    /// The time when there may be something to do.
    private(set) var next = ContinuousClock.now

    /// True if no room is known to be behind.
    var isIdle: Bool { rooms.isEmpty }

    init(_ db: PostgresConnection, _ configuration: StoreConfiguration) {
        self.db = db
        addsMessages = configuration.indexes
        blockMessages = configuration.wordBlock
    }

    /// Looks for rooms that are behind, or indexes some messages of one.
    mutating func run() throws {
        let start = ContinuousClock.now
        // The index may have been emptied to be built again.
        if rooms.isEmpty { blocks = nil }
        guard try prepare() else {
            next = start + Self.retry
            return
        }
        // Also while no room is behind, so that the first check after a flood of sends begins knows its rate.
        if rooms.isEmpty || count.map({ $0.next <= start }) ?? true { try measure() }
        if rooms.isEmpty {
            let behind = try roomsBehind()
            rooms = behind.map(\.number)
            if !isBuilt { total = behind.reduce(0) { $0 + $1.messages } }
        }
        if let room = rooms.last, try index(room) { rooms.removeLast() }
        if !isBuilt, addsMessages { try noteProgress() }
        next = .now
        if rooms.isEmpty {
            next += max(addsMessages ? Self.interval : Self.retry, (next - start) * Self.share)
        } else if isBusy {
            next += (next - start) * Self.busyShare
        }
    }

    /// Finds out how many messages were sent since the last time.
    private mutating func measure() throws {
        let start = ContinuousClock.now
        let messages = try db.first("SELECT coalesce(sum(head), 0)::bigint FROM rooms") { $0.integer(0) } ?? 0
        if let count {
            isBusy = Double(messages - count.messages) > Self.busyRate * ((start - count.time) / .seconds(1))
        }
        let pause = max(Self.interval, (.now - start) * Self.share)
        count = (start, messages, next: start + pause)
    }

    /// Begins again after a failure.
    mutating func fail() {
        (blocks, rooms) = (nil, [])
        next = .now + Self.retry
    }

    /// Returns the rooms with messages or changes that are not indexed, and rooms that have words although they are deleted
    /// or no search looks into them.
    private func roomsBehind() throws -> [(number: Int64, messages: Int64)] {
        try db.all(
            """
            SELECT rooms.id, head - coalesce(indexed.seq, 0) FROM rooms LEFT JOIN indexed ON indexed.room = rooms.id
            WHERE CASE WHEN deleted = 0 AND searchable = 1
                THEN \(addsMessages ? "head > coalesce(indexed.seq, 0) OR" : "indexed.room IS NOT NULL AND")
                    rooms.rev > coalesce(indexed.rev, 0)
                ELSE indexed.room IS NOT NULL END
            """
        ) { ($0.integer(0), $0.integer(1)) }
    }

    /// Stores how much of the first index is built. It is built once all rooms were indexed that were behind at its beginning.
    private mutating func noteProgress() throws {
        if rooms.isEmpty {
            try db.run("DELETE FROM meta WHERE key = 'search_building'")
            try db.run("INSERT INTO meta VALUES ('search_built', '1') ON CONFLICT (key) DO NOTHING")
            isBuilt = true
        } else if done * 100 >= (stored + 1) * total, total > 0 {
            stored = min(99, done * 100 / total)
            try db.run("UPDATE meta SET value = $1 WHERE key = 'search_building'", "\(stored)")
        }
    }

    // MARK: Blocks

    /// Reads or makes the blocks. The tokens of another version of the program are removed.
    ///
    /// - Returns: False while a newer version of the program has other tokens.
    private mutating func prepare() throws -> Bool {
        if blocks != nil { return true }
        let version = try db.first("SELECT value FROM meta WHERE key = 'search_version'") { Int($0.text(0)) ?? 0 }
        if let version, version > SearchTokens.version { return false }
        if version != SearchTokens.version {
            try db.execute("BEGIN", "TRUNCATE words, indexed, word_blocks")
            try db.run("DELETE FROM meta WHERE key = 'search_built'")
            // Without a version, the schema or SearchRebuild has noted if there is something to wait for.
            if version != nil { try db.run(SearchRebuild.noteBuilding) }
            (isBuilt, done, stored) = (false, 0, 0)
            try db.run(
                "INSERT INTO meta VALUES ('search_version', $1) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                "\(SearchTokens.version)")
            for (number, start) in try firstBlocks().enumerated() {
                try db.run("INSERT INTO word_blocks VALUES ($1, $2, 0, $2)", Int64(number), start)
            }
            try db.execute("COMMIT")
        }
        blocks = WordBlocks(try db.run(WordBlocks.select))
        return true
    }

    /// Returns where blocks start that divide the messages of an existing database evenly.
    private func firstBlocks() throws -> [Int64] {
        // Not PostgreSQL's estimate, which a restored or copied table lacks at first.
        let messages = try db.first(
            """
            SELECT coalesce(sum(head - coalesce(expired.seq, 0)), 0)::bigint
            FROM rooms LEFT JOIN expired ON expired.room = rooms.id WHERE deleted = 0
            """
        ) { $0.integer(0) }!
        let count = messages / blockMessages
        guard count > 1 else { return [.min] }
        let percent = max(1, min(100, 100 * Self.sample / messages))
        let starts = try db.all(
            """
            SELECT DISTINCT unnest(percentile_disc(ARRAY(SELECT i / $1::float8 FROM generate_series(1, $1 - 1) AS i))
                WITHIN GROUP (ORDER BY created_at)) AS start
            FROM messages TABLESAMPLE SYSTEM (\(percent)) ORDER BY start
            """, count
        ) { $0.integer(0) }
        return [.min] + starts
    }

    /// Begins a new block if the newest is full. It starts after all messages that are indexed.
    private mutating func growBlocks() throws {
        let added = try db.runCounting(
            """
            INSERT INTO word_blocks SELECT id + 1, latest + 1, 0, latest + 1 FROM word_blocks
            WHERE id = (SELECT max(id) FROM word_blocks) AND messages >= $1
            """, blockMessages)
        if added > 0 { blocks = WordBlocks(try db.run(WordBlocks.select)) }
    }

    // MARK: Messages

    private struct Document {
        let id: Int64
        let createdAt: Int64
        let text: String

        /// Reads a row with the id, the time and the snapshot.
        init(_ row: PostgresStatement) throws {
            id = row.integer(0)
            createdAt = row.integer(1)
            let message = try Message(decoding: row.bytes(2))
            text = message.deleted ? "" : message.content.text
        }
    }

    /// Indexes some messages of a room.
    ///
    /// - Returns: True if the room is not behind any more.
    private mutating func index(_ room: Int64) throws -> Bool {
        let row = try db.first(
            """
            SELECT deleted = 0 AND searchable = 1, rooms.rev, coalesce(indexed.seq, 0), coalesce(indexed.rev, 0)
            FROM rooms LEFT JOIN indexed ON indexed.room = rooms.id WHERE rooms.id = $1
            """, room
        ) { (isIndexed: $0.integer(0) == 1, rev: $0.integer(1), seq: $0.integer(2), indexedRev: $0.integer(3)) }
        guard let row else { return true }
        let end = RowKey(room: room, RowKey.maximumOrdinal)
        if !row.isIndexed { return try remove(room) }
        // Read after the room's row, so that they may be newer than its revision. Then they are read again.
        var lastChange = row.indexedRev
        var documents = try db.all(
            """
            SELECT id, created_at, body, changed FROM messages WHERE changed > $1 AND changed <= $2 AND id <= $3
            ORDER BY changed LIMIT \(Self.batch)
            """, RowKey(room: room, row.indexedRev), end, RowKey(room: room, row.seq)
        ) { row in
            lastChange = RowKey(rawValue: row.integer(3)).ordinal
            return try Document(row)
        }
        if documents.count == Self.batch {
            try write(documents, replacing: documents.map(\.id), room, seq: row.seq, rev: lastChange)
            return false
        }
        let new = try db.all(
            """
            SELECT id, created_at, body FROM messages WHERE id > $1 AND id <= $2
            ORDER BY id LIMIT \(addsMessages ? Self.batch : 0)
            """, RowKey(room: room, row.seq), end
        ) { try Document($0) }
        documents += new
        // A message that is deleted now may have been indexed before the room's words were removed.
        let changed = documents.map(\.id).prefix(documents.count - new.count) + new.filter(\.text.isEmpty).map(\.id)
        let seq = new.last.map { RowKey(rawValue: $0.id).ordinal } ?? row.seq
        try write(documents, replacing: Array(changed), room, seq: seq, rev: max(row.rev, row.indexedRev))
        return new.count < Self.batch
    }

    private mutating func write(
        _ documents: [Document], replacing changed: [Int64], _ room: Int64, seq: Int64, rev: Int64
    ) throws {
        let blocks = blocks!
        let newest = blocks.blocks.last!
        var (ids, times, tokens): ([Int64], [Int64], [String?]) = ([], [], [])
        for document in documents where !document.text.isEmpty {
            ids.append(document.id)
            times.append(document.createdAt)
            tokens.append(blocks.tokens(of: document.text, in: room, at: document.createdAt))
        }
        // Together they are one transaction.
        if !changed.isEmpty {
            var parameters = PostgresParameters()
            parameters.append(changed)
            try db.send("DELETE FROM words WHERE message = ANY ($1::bigint[])", parameters)
        }
        if !ids.isEmpty {
            var parameters = PostgresParameters()
            parameters.append(ids)
            parameters.append(times)
            parameters.append(tokens)
            try db.send(
                """
                INSERT INTO words SELECT message, created_at, array_to_tsvector(string_to_array(tokens, ' '))
                FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS a (message, created_at, tokens)
                ON CONFLICT (message) DO UPDATE SET created_at = excluded.created_at, tokens = excluded.tokens
                """, parameters)
            try db.runSoon(
                "UPDATE word_blocks SET messages = messages + $1, latest = greatest(latest, $2) WHERE id = $3",
                Int64(times.count { $0 >= newest.start }), times.max()!, newest.number)
        }
        try db.run(
            """
            INSERT INTO indexed VALUES ($1, $2, $3)
            ON CONFLICT (room) DO UPDATE SET seq = excluded.seq, rev = excluded.rev
            """, room, seq, rev)
        try growBlocks()
        done += Int64(documents.count)
    }

    /// Removes some words of a room that is deleted or that no search looks into.
    ///
    /// - Returns: True if none are left.
    private func remove(_ room: Int64) throws -> Bool {
        // If the room is to be indexed again before all are removed, it begins anew.
        try db.run("UPDATE indexed SET seq = 0, rev = 0 WHERE room = $1 AND seq > 0", room)
        let removed = try db.runCounting(
            """
            DELETE FROM words WHERE message IN (
                SELECT message FROM words WHERE message > $1 AND message <= $2 LIMIT \(Self.batch)
            )
            """, RowKey(room: room, 0), RowKey(room: room, RowKey.maximumOrdinal))
        if removed == Self.batch { return false }
        try db.run("DELETE FROM indexed WHERE room = $1", room)
        return true
    }
}
