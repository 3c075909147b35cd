import Chat
import TextSearch
import Wire

/// A search in the table `words`, and among the messages that are not indexed yet.
///
/// The newest messages are examined first, whatever they contain: frequent words fill a page with them, and the index would
/// collect all messages that have them (S of `scripts/compare`).
///
/// Confined to its read transaction.
struct WordSearch {
    /// A searched room, and how far it is indexed.
    private struct Room {
        let number: Int64
        let id: RoomID
        let head: Int64
        let rev: Int64
        /// The time of the latest message, or of the room's beginning, in milliseconds since 1970.
        let latest: Int64
        /// The highest indexed `seq`, and the revision up to which changes of these messages are indexed.
        let indexed: (seq: Int64, rev: Int64)

        var isBehind: Bool { head > indexed.seq || rev > indexed.rev }
    }

    /// A message that the index has found.
    private struct Found {
        let message: Int64
        let createdAt: Int64
        let body: [UInt8]

        var position: (Int64, Int64) { (createdAt, message) }
    }

    /// Maximum number of rooms that the index looks up by their tokens. Of more rooms, it looks up all.
    private static let roomTokens = 8
    /// Maximum number of messages that one look into the index returns.
    private static let most: Int64 = 1024
    /// Minimum number of messages of a room that are searched before they are indexed.
    private static let scannedOfRoom: Int64 = 20
    /// Maximum number of rooms whose newest messages are examined before the index is asked. Each takes 20 microseconds.
    private static let scannedRooms = 256
    /// Minimum number of messages that are read of each.
    private static let scannedOfEach = 8

    private let db: PostgresConnection
    private var search: CandidateSearch
    private let rooms: [Int64: Room]
    private let blocks: WordBlocks

    init(_ search: CandidateSearch, in rooms: [SearchedRoom], _ db: PostgresConnection) throws {
        self.db = db
        self.search = search
        var parameters = PostgresParameters()
        parameters.append(rooms.map { $0.id.string as String? })
        try db.send(
            """
            SELECT rooms.id, rooms.name, head, rooms.rev, coalesce(indexed.seq, 0), coalesce(indexed.rev, 0),
                coalesce(active_at, created_at, 0)
            FROM unnest($1::text[]) AS a (name) JOIN rooms ON rooms.name = ANY (ARRAY[a.name]) AND deleted = 0 AND searchable = 1
                LEFT JOIN LATERAL (SELECT seq, rev FROM indexed WHERE room = ANY (ARRAY[rooms.id])) AS indexed ON true
            """, parameters)
        try db.send(WordBlocks.select, PostgresParameters())
        try db.send("SELECT value FROM meta WHERE key = 'search_building'", PostgresParameters())
        let results = Array(try db.results().suffix(3))
        let (rows, building) = (results[0], results[2])
        if building.count > 0 { throw Problem.indexBuilding(percent: Int(building.text(0, 0)) ?? 0) }
        blocks = WordBlocks(results[1])
        let found = (0..<rows.count).map { row in
            Room(
                number: rows.integer(row, 0), id: RoomID(trusted: rows.text(row, 1)), head: rows.integer(row, 2),
                rev: rows.integer(row, 3), latest: rows.integer(row, 6),
                indexed: (rows.integer(row, 4), rows.integer(row, 5)))
        }
        self.rooms = Dictionary(uniqueKeysWithValues: found.map { ($0.number, $0) })
    }

    /// Passes `body` the candidates, newest first, until it returns false.
    ///
    /// - Returns: The time up to which everything is indexed; `nil` if nothing is missing.
    mutating func forEachCandidate(_ body: (SearchCandidate) throws -> Bool) throws -> Int64? {
        if rooms.isEmpty || blocks.blocks.isEmpty && !rooms.values.contains(where: \.isBehind) { return nil }
        func pass(_ found: Found, isScanned: Bool = false) throws -> Bool {
            let key = RowKey(rawValue: found.message)
            guard found.createdAt >= search.from, search.seqs.contains(key.ordinal),
                found.position < (search.before.milliseconds, search.before.message), let room = rooms[key.room]
            else { return true }
            return try body(
                SearchCandidate(
                    message: key, room: room.id, createdAt: found.createdAt, body: found.body, isScanned: isScanned))
        }
        if search.scannedFirst > 0, search.before.milliseconds == .max {
            let (newest, end) = try newest()
            for found in newest where try !pass(found, isScanned: true) { return nil }
            guard let end else { return nil }
            search.before = end
        }
        let (scanned, indexedTo) = try unindexed()
        var rest = scanned[...]
        let known = Set(scanned.map(\.message))
        let isDone = try !forEachIndexed { found in
            while let first = rest.first, first.position > found.position {
                rest.removeFirst()
                guard try pass(first) else { return false }
            }
            return try known.contains(found.message) || pass(found)
        }
        if !isDone { for found in rest where try !pass(found) { break } }
        return indexedTo
    }

    // MARK: The newest messages

    /// Returns messages, newest first, and the position before which all others lie; `nil` if there are no others.
    private func newest() throws -> (messages: [Found], end: (Int64, Int64)?) {
        let rooms = self.rooms.values.filter { $0.latest >= search.from }.sorted { $0.latest > $1.latest }
        let scanned = rooms.prefix(Self.scannedRooms)
        guard let oldest = scanned.last else { return ([], nil) }
        // A few of many rooms have most of the newest messages.
        let most = max(Self.scannedOfEach, search.scannedFirst / scanned.count)
        var parameters = PostgresParameters()
        parameters.append(scanned.map { RowKey(room: $0.number, search.seqs.lowerBound).rawValue })
        parameters.append(scanned.map { RowKey(room: $0.number, min($0.head, search.seqs.upperBound)).rawValue })
        parameters.append(Int64(most))
        parameters.append(Int64(search.scannedFirst))
        let result = try db.run(
            """
            SELECT found.id, found.created_at, found.body FROM unnest($1::bigint[], $2::bigint[]) AS a (first, last),
                LATERAL (
                    SELECT id, created_at, body FROM messages WHERE id >= a.first AND id <= a.last ORDER BY id DESC LIMIT $3
                ) AS found
            ORDER BY found.created_at DESC, found.id DESC LIMIT $4
            """, parameters)
        // The newest position that a message may have which is not among these.
        var end = scanned.count < rooms.count ? (oldest.latest + 1, 0) : nil as (Int64, Int64)?
        var counts: [Int64: Int] = [:]
        var messages: [Found] = []
        for row in 0..<result.count {
            let found = Found(
                message: result.integer(row, 0), createdAt: result.integer(row, 1), body: result.bytes(row, 2))
            messages.append(found)
            let room = RowKey(rawValue: found.message).room
            counts[room, default: 0] += 1
            if counts[room] == most || messages.count == search.scannedFirst, end.map({ $0 < found.position }) ?? true {
                end = found.position
            }
        }
        if let end { messages.removeAll { $0.position < end } }
        return (messages, end)
    }

    // MARK: Messages that are not indexed

    /// Returns the newest messages that are not indexed, newest first, and the time up to which everything is indexed if
    /// they are not all.
    private func unindexed() throws -> (messages: [Found], indexedTo: Int64?) {
        let behind = rooms.values.filter(\.isBehind)
        if behind.isEmpty { return ([], nil) }
        let most = max(Self.scannedOfRoom, search.scanned / Int64(behind.count))
        var new = PostgresParameters()
        new.append(behind.map { RowKey(room: $0.number, max($0.indexed.seq + 1, search.seqs.lowerBound)).rawValue })
        new.append(behind.map { RowKey(room: $0.number, min($0.head, search.seqs.upperBound)).rawValue })
        new.append(search.before.milliseconds)
        new.append(most + 1)
        try db.send(
            """
            SELECT found.id, found.created_at, found.body FROM unnest($1::bigint[], $2::bigint[]) AS a (first, last),
                LATERAL (
                    SELECT id, created_at, body FROM messages
                    WHERE id >= a.first AND id <= a.last AND created_at <= $3 ORDER BY id DESC LIMIT $4
                ) AS found
            """, new)
        var changed = PostgresParameters()
        changed.append(behind.map { RowKey(room: $0.number, $0.indexed.rev).rawValue })
        changed.append(behind.map { RowKey(room: $0.number, $0.rev).rawValue })
        changed.append(behind.map { RowKey(room: $0.number, $0.indexed.seq).rawValue })
        changed.append(search.scanned + 1)
        try db.send(
            """
            SELECT found.id, found.created_at, found.body
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS a (since, last, indexed), LATERAL (
                    SELECT id, created_at, body FROM messages
                    WHERE changed > a.since AND changed <= a.last AND id <= a.indexed ORDER BY changed DESC LIMIT $4
                ) AS found
            """, changed)
        var messages: [Found] = []
        // The rooms of which older messages are left out.
        var cut: Set<Int64> = []
        for (result, most) in try zip(db.results().suffix(2), [most, search.scanned]) {
            var counts: [Int64: Int64] = [:]
            for row in 0..<result.count {
                let found = Found(
                    message: result.integer(row, 0), createdAt: result.integer(row, 1), body: result.bytes(row, 2))
                let room = RowKey(rawValue: found.message).room
                counts[room, default: 0] += 1
                if counts[room]! > most { cut.insert(room) } else { messages.append(found) }
            }
        }
        let times = try cut.map { room in
            try db.first(
                "SELECT created_at FROM messages WHERE id = $1", RowKey(room: room, rooms[room]!.indexed.seq)
            ) { $0.integer(0) } ?? 0
        }
        return (messages.sorted { $0.position > $1.position }, times.min())
    }

    // MARK: The index

    /// Passes `body` the messages that have all tokens, newest first, until it returns false.
    ///
    /// - Returns: False if `body` has.
    private func forEachIndexed(_ body: (Found) throws -> Bool) throws -> Bool {
        var rest = blocks.blocks.prefix { $0.start <= search.before.milliseconds }
        if let oldest = rest.lastIndex(where: { $0.start <= search.from }) { rest = rest[oldest...] }
        // Most searches end in the newest blocks. Rare words are looked up in ever more blocks at once.
        var count = 1
        while !rest.isEmpty {
            let part = rest.suffix(count)
            rest.removeLast(part.count)
            count = min(64, count * 2)
            var position = (search.before.milliseconds, search.before.message)
            while true {
                let keys = try keys(in: part, before: position)
                guard try forEach(keys[...], body) else { return false }
                guard keys.count == Self.most, let last = keys.last else { break }
                position = (last.createdAt, last.message)
            }
        }
        return true
    }

    /// Returns the messages that the index finds in blocks.
    private func keys(
        in blocks: ArraySlice<WordBlocks.Block>, before position: (Int64, Int64)
    ) throws -> [(message: Int64, createdAt: Int64)] {
        var parameters = PostgresParameters()
        parameters.append(blocks.map { query(in: $0.number) as String? })
        parameters.append(position.0)
        parameters.append(position.1)
        parameters.append(search.from)
        parameters.append(Self.most)
        let hasFilter = rooms.count > Self.roomTokens
        if hasFilter { parameters.append(Array(rooms.keys)) }
        // The connection's plans use no bitmaps, which this index needs.
        try db.send(Self.usingBitmaps(true), PostgresParameters())
        try db.send(
            """
            SELECT found.message, found.created_at FROM unnest($1::text[]) AS a (query), LATERAL (
                SELECT message, created_at FROM words
                WHERE tokens @@ a.query::tsquery AND (created_at, message) < ($2, $3) AND created_at >= $4
                    \(hasFilter ? "AND (message >> \(RowKey.ordinalBits) IN (SELECT unnest($6::bigint[]))) IS TRUE" : "")
            ) AS found
            ORDER BY found.created_at DESC, found.message DESC LIMIT $5
            """, parameters)
        try db.send(Self.usingBitmaps(false), PostgresParameters())
        let results = try db.results()
        let result = results[results.count - 2]
        return (0..<result.count).map { (result.integer($0, 0), result.integer($0, 1)) }
    }

    private static func usingBitmaps(_ isOn: Bool) -> String {
        """
        SELECT set_config('enable_bitmapscan', '\(isOn ? "on" : "off")', true),
            set_config('enable_indexscan', '\(isOn ? "off" : "on")', true)
        """
    }

    /// Returns what the messages of a block must have. Tokens have no quotes and no backslashes.
    private func query(in block: Int64) -> String {
        var parts = search.terms.map { term in
            "'\(WordBlocks.token(term.token, in: block))'\(term.isPrefix ? ":*" : "")"
        }
        if rooms.count <= Self.roomTokens {
            let rooms = rooms.keys.map { "'\(WordBlocks.token(WordBlocks.room($0), in: block))'" }
            parts.append("(\(rooms.joined(separator: " | ")))")
        }
        return parts.joined(separator: " & ")
    }

    /// Passes `body` messages with their snapshots, which are read in parts.
    private func forEach(
        _ keys: ArraySlice<(message: Int64, createdAt: Int64)>, _ body: (Found) throws -> Bool
    ) throws -> Bool {
        var (rest, count) = (keys, 32)
        while !rest.isEmpty {
            let part = rest.prefix(count)
            rest.removeFirst(part.count)
            count = 256
            var parameters = PostgresParameters()
            parameters.append(part.map(\.message))
            let result = try db.run(
                "SELECT id, body FROM unnest($1::bigint[]) AS a (key) JOIN messages ON id = ANY (ARRAY[a.key])",
                parameters)
            let bodies = Dictionary(
                uniqueKeysWithValues: (0..<result.count).map { (result.integer($0, 0), result.bytes($0, 1)) })
            for key in part {
                guard let snapshot = bodies[key.message] else { continue }
                guard try body(Found(message: key.message, createdAt: key.createdAt, body: snapshot)) else {
                    return false
                }
            }
        }
        return true
    }
}
