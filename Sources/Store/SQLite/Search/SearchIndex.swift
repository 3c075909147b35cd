import Chat
import TextSearch
import Wire

/// The index of the words of filed messages: the table `words`, an FTS5 table without content whose rows have the keys of
/// the messages, and the table `indexed` with the `seq` up to which each room is indexed.
///
/// The writer indexes messages between commits, in short steps. A message that is indexed changes its entries in the
/// transaction that changes the message. FTS5 needs the exact old tokens for that, so they are computed from the old text.
///
/// Confined to the writer's connection.
final class SearchIndex {
    private let db: SQLiteConnection
    private let configuration: StoreConfiguration
    /// The rooms that are being indexed, the first one last.
    private var current: [Int64] = []
    /// Other rooms that may have messages that are not indexed, in the order in which they are indexed.
    private var waiting = FIFO<Int64>()
    private var isWaiting: Set<Int64> = []
    /// The room up to which all rooms have been looked at; `nil` when that is done.
    private var swept: Int64? = 0
    /// The number of the last room there was at the start.
    private var lastRoom: Int64 = 0
    /// True if parts of the index may be merged.
    private var mayMerge = true
    /// The time when removed words are purged; `nil` if there are none.
    private var purge: ContinuousClock.Instant?
    /// True while they are being purged.
    private var isPurging = false
    /// True if words were removed since the purge began.
    private var hasRemoved = false
    private var isReady = false
    /// The time after a failure before which nothing is tried.
    private var retry: ContinuousClock.Instant?
    private var reported = 0

    init(_ db: SQLiteConnection, _ configuration: StoreConfiguration) {
        self.db = db
        self.configuration = configuration
    }

    /// The bounds of one step.
    private enum Step {
        /// Time after which no more messages are indexed: 1.5 ms, so that a step takes about 2.
        static let time = Duration.microseconds(1500)
        /// Number of messages that are read at once.
        static let messages = 16
        /// Number of rooms that are looked at.
        static let rooms = 64
        /// Number of rooms that wait. Beyond it all rooms are looked at again.
        static let waitingRooms = 65_536
        /// Number of pages that are merged.
        static let pages = 16
    }

    /// The time when there is something to do; `nil` if there is nothing.
    var next: ContinuousClock.Instant? {
        guard configuration.indexes else { return nil }
        let hasWork = !isReady || swept != nil || !current.isEmpty || !waiting.isEmpty || mayMerge || isPurging
        return hasWork ? retry ?? .now : purge.map { max($0, retry ?? $0) }
    }

    // MARK: Changes

    /// Remembers that messages have been filed.
    func filed(_ messages: [RecentMessage]) {
        var last: Int64?
        for message in messages where message.roomNumber != last {
            last = message.roomNumber
            add(message.roomNumber)
        }
    }

    /// Remembers that there may be something to do for a room.
    func add(_ room: Int64) {
        guard configuration.indexes else { return }
        guard isWaiting.count < Step.waitingRooms else { return swept = 0 }
        if isWaiting.insert(room).inserted { waiting.append(room) }
    }

    /// Changes the entries of a message, before its snapshot is replaced by `body`.
    func replace(_ message: RowKey, by body: [UInt8]) throws {
        guard message.ordinal <= (try db.indexedEnd(of: message.room)), let old = try db.snapshot(of: message) else {
            return
        }
        let (before, after) = (Self.tokens(of: old), Self.tokens(of: body))
        guard !before.hasSameBytes(as: after) else { return }
        try remove(before, of: message)
        try insert(after, of: message)
    }

    /// Removes the entries of messages of a room, before the messages are deleted: its last ones.
    func remove(from first: RowKey, through last: RowKey) throws {
        let end = try db.indexedEnd(of: first.room)
        guard first.ordinal <= end else { return }
        let bodies = try db.all(
            "SELECT id, body FROM messages WHERE id >= $1 AND id <= $2", first,
            min(last.rawValue, RowKey(room: first.room, end).rawValue)
        ) { (RowKey(rawValue: $0.integer(0)), $0.bytes(1)) }
        for (message, body) in bodies { try remove(Self.tokens(of: body), of: message) }
        if first.ordinal > 1 {
            try db.setIndexedEnd(first.ordinal - 1, of: first.room)
        } else {
            try db.run("DELETE FROM indexed WHERE room = $1", first.room)
        }
    }

    private func insert(_ tokens: String, of message: RowKey) throws {
        if tokens.isEmpty { return }
        try db.run("INSERT INTO words (rowid, text) VALUES ($1, $2)", message, tokens)
    }

    private func remove(_ tokens: String, of message: RowKey) throws {
        if tokens.isEmpty { return }
        try db.run("INSERT INTO words (words, rowid, text) VALUES ('delete', $1, $2)", message, tokens)
        // The words stay in the file until they are purged, also after a restart.
        try db.run("INSERT OR IGNORE INTO meta VALUES ('search_removed', '1')")
        purge = purge ?? .now + configuration.wordPurgeInterval
        hasRemoved = true
        mayMerge = true
    }

    /// Returns the text of a snapshot; none if the snapshot is damaged.
    static func text(of body: [UInt8]) -> String {
        (try? Message(decoding: body))?.content.text ?? ""
    }

    private static func tokens(of body: [UInt8]) -> String { SearchTokens.joined(of: text(of: body)) }

    // MARK: Steps

    /// Does one step of the work that is due.
    ///
    /// - Returns: An event to report, if any.
    func step() throws -> JobEvent? {
        do {
            retry = nil
            if !isReady {
                try start()
                return nil
            }
            // A step that is lost is done again, so it does not wait for the disk. The next commit's sync includes it.
            try db.execute("PRAGMA synchronous = NORMAL")
            defer { try? db.execute("PRAGMA synchronous = FULL") }
            if let purge, isPurging || purge <= .now { return try purgeStep() }
            if mayMerge, try merge(Step.pages) { return nil }
            mayMerge = false
            if current.isEmpty {
                while current.count < Step.rooms, let room = waiting.popFirst() { current.append(room) }
                // FTS5 takes rows in ascending order together.
                current.sort(by: >)
            }
            if !current.isEmpty { return try index() }
            return try swept.flatMap { try sweep(after: $0) }
        } catch {
            retry = .now + .milliseconds(configuration.jobRetry)
            throw error
        }
    }

    static let name = "indexing messages"

    /// Empties an index of other tokens, and finds out what is to be done. Called before the first commit if possible: later a
    /// new database with messages looks like one of an earlier version.
    func start() throws {
        guard configuration.indexes, !isReady else { return }
        try db.transaction(.immediate) { db in
            if try db.first("SELECT value FROM meta WHERE key = 'search_version'", row: { $0.text(0) })
                != String(SearchTokens.version)
            {
                try db.emptySearchIndex()
                if try db.has("SELECT 1 FROM messages") {
                    try db.run("INSERT OR REPLACE INTO meta VALUES ('search_building', '0')")
                }
                try db.run("INSERT OR REPLACE INTO meta VALUES ('search_version', '\(SearchTokens.version)')")
            }
            if try db.has("SELECT 1 FROM meta WHERE key = 'search_removed'") { purge = .now }
            lastRoom = try db.first("SELECT ifnull(max(id), 0) FROM rooms") { $0.integer(0) } ?? 0
        }
        isReady = true
    }

    /// Finds rooms that are not indexed to their ends, and those that must not be.
    private func sweep(after room: Int64) throws -> JobEvent? {
        let rooms = try db.all(
            "SELECT id, deleted, searchable FROM rooms WHERE id > $1 ORDER BY id LIMIT \(Step.rooms)", room
        ) { (number: $0.integer(0), isDeleted: $0.integer(1) != 0, isSearchable: $0.integer(2) == 1) }
        for room in rooms where !room.isDeleted {
            let end = room.isSearchable ? try db.progress(of: room.number).head : 0
            if try db.indexedEnd(of: room.number) != end { add(room.number) }
        }
        swept = rooms.last?.number
        if swept != nil { return nil }
        return try db.runCounting("DELETE FROM meta WHERE key = 'search_building'") > 0 ? .done(Self.name) : nil
    }

    /// Indexes the next messages of rooms.
    private func index() throws -> JobEvent? {
        let end = ContinuousClock.now + Step.time
        var rest = current
        do {
            try db.transaction(.immediate) { _ in
                repeat {
                    if try index(rest.last!, until: end) { rest.removeLast() }
                } while !rest.isEmpty
                    && ContinuousClock.now < end
            }
        } catch {
            // The other rooms go on.
            if let room = rest.last { finish(room) }
            throw error
        }
        mayMerge = true
        let room = rest.last ?? current[0]
        for room in current[rest.count...] { finish(room) }
        guard let percent = try progress(room), percent / 10 > reported / 10 else { return nil }
        reported = percent
        return .progress(Self.name, percent: percent)
    }

    private func finish(_ room: Int64) {
        current.removeAll { $0 == room }
        isWaiting.remove(room)
    }

    /// Indexes messages of a room, some at least, and more until a time; or removes them, if no search looks into it.
    ///
    /// - Returns: False if there are more.
    private func index(_ room: Int64, until end: ContinuousClock.Instant) throws -> Bool {
        let isSearchable = try db.first("SELECT searchable FROM rooms WHERE id = $1 AND deleted = 0", room) {
            $0.integer(0) == 1
        }
        guard let isSearchable else { return true }
        if !isSearchable { return try unindex(room, until: end) }
        let first = try db.indexedEnd(of: room)
        var (last, isDone) = (first, false)
        repeat {
            let found = try db.all(
                "SELECT id, body FROM messages WHERE id > $1 AND id <= $2 ORDER BY id LIMIT \(Step.messages)",
                RowKey(room: room, last), RowKey(room: room, RowKey.maximumOrdinal)
            ) { (RowKey(rawValue: $0.integer(0)), $0.bytes(1)) }
            for (message, body) in found {
                try insert(Self.tokens(of: body), of: message)
                last = message.ordinal
            }
            isDone = found.count < Step.messages
        } while !isDone && ContinuousClock.now < end
        if last > first { try db.setIndexedEnd(last, of: room) }
        return isDone
    }

    /// Removes the entries of messages of a room, the last ones first.
    ///
    /// - Returns: False if there are more.
    private func unindex(_ room: Int64, until end: ContinuousClock.Instant) throws -> Bool {
        repeat {
            let last = try db.indexedEnd(of: room)
            if last == 0 { return true }
            let found = try db.all(
                "SELECT id FROM messages WHERE id > $1 AND id <= $2 ORDER BY id DESC LIMIT \(Step.messages)",
                RowKey(room: room, 0), RowKey(room: room, last)
            ) { RowKey(rawValue: $0.integer(0)) }
            let isLast = found.count < Step.messages
            try remove(from: isLast ? RowKey(room: room, 1) : found.last!, through: RowKey(room: room, last))
            if isLast { return true }
        } while ContinuousClock.now < end
        return false
    }

    /// Stores the progress of the first index, in percent; `nil` if there is an index.
    private func progress(_ room: Int64) throws -> Int? {
        guard try db.has("SELECT 1 FROM meta WHERE key = 'search_building'") else { return nil }
        let (end, head) = (try db.indexedEnd(of: room), try db.progress(of: room).head)
        // Rooms are indexed in the order of their numbers.
        let done = Double(room - 1) + Double(end) / Double(max(1, head))
        let percent = min(99, Int(done / Double(max(1, lastRoom)) * 100))
        try db.run("UPDATE meta SET value = $1 WHERE key = 'search_building'", String(percent))
        return percent
    }

    // MARK: Merging

    /// Merges parts of the index, at most about `pages` pages, or all parts into one if the number is negative.
    ///
    /// - Returns: False if nothing is left to merge.
    private func merge(_ pages: Int) throws -> Bool {
        // FTS5 counts a change for the statement itself, and at least one more if it has merged something.
        try db.runCounting("INSERT INTO words (words, rank) VALUES ('merge', $1)", pages) > 1
    }

    /// Does a step of merging all parts into one, which then has no removed words.
    private func purgeStep() throws -> JobEvent? {
        if !isPurging { (isPurging, hasRemoved) = (true, false) }
        if try merge(-Step.pages) { return nil }
        isPurging = false
        if hasRemoved {
            // Words that were removed meanwhile may still be there.
            purge = .now + configuration.wordPurgeInterval
        } else {
            try db.run("DELETE FROM meta WHERE key = 'search_removed'")
            purge = nil
        }
        return nil
    }
}

/// Statements about the index of words.
extension SQLiteConnection {
    /// Returns the `seq` up to which the messages of a room are indexed.
    func indexedEnd(of room: Int64) throws -> Int64 {
        try first("SELECT seq FROM indexed WHERE room = $1", room) { $0.integer(0) } ?? 0
    }

    fileprivate func setIndexedEnd(_ seq: Int64, of room: Int64) throws {
        try run("INSERT OR REPLACE INTO indexed (room, seq) VALUES ($1, $2)", room, seq)
    }

    /// Removes everything from the index, which is then built again.
    func emptySearchIndex() throws {
        try run("INSERT INTO words (words) VALUES ('delete-all')")
        try run("DELETE FROM indexed")
        try run("DELETE FROM meta WHERE key IN ('search_version', 'search_removed')")
    }

    /// Removes what is left of words that are no longer in the index, in one go.
    func purgeWords() throws {
        while try runCounting("INSERT INTO words (words, rank) VALUES ('merge', -1000)") > 1 {}
        try run("DELETE FROM meta WHERE key = 'search_removed'")
    }

    /// Returns the progress of the first index in percent; `nil` if there is an index.
    func searchBuilding() throws -> Int? {
        try first("SELECT value FROM meta WHERE key = 'search_building'") { Int($0.text(0)) ?? 0 }
    }

    /// Returns the `seq` of messages that have all tokens, newest first: at most `most` of those from `first` and before
    /// `end`.
    func indexed(
        _ terms: [IndexTerm], in room: Int64, from first: Int64, before end: Int64, most: Int
    ) throws -> [Int64] {
        guard first < end else { return [] }
        return try all(
            "SELECT rowid FROM words WHERE words MATCH $1 AND rowid >= $2 AND rowid < $3 ORDER BY rowid DESC LIMIT $4",
            Self.match(terms), RowKey(room: room, first), RowKey(room: room, end), most
        ) { RowKey(rawValue: $0.integer(0)).ordinal }
    }

    /// Returns the keys of messages of all rooms that have all tokens, at most `most`, in ascending order.
    func indexed(_ terms: [IndexTerm], most: Int) throws -> [Int64] {
        try all("SELECT rowid FROM words WHERE words MATCH $1 ORDER BY rowid LIMIT $2", Self.match(terms), most) {
            $0.integer(0)
        }
    }

    private static func match(_ terms: [IndexTerm]) -> String {
        terms.map { "\"\($0.token)\"\($0.isPrefix ? " *" : "")" }.joined(separator: " AND ")
    }
}
