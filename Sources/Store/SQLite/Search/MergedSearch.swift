import Chat
import TextSearch
import Wire

/// A search in rooms of an SQLite database, which merges the messages of each.
///
/// The newest messages are examined first, whatever they contain: frequent words fill a page with them. Then the index is
/// asked, once for all rooms if it can be: FTS5 collects all rows of all words with a prefix before it returns the first
/// one, however few are wanted (S of `scripts/compare`).
///
/// Confined to its read transaction.
final class MergedSearch {
    /// Maximum number of rooms of which each asks the index for whole words. That takes less than a list of all matches.
    private static let fewRooms = 16

    private let search: CandidateSearch
    private let rooms: [SearchedRoom]
    private let view: SQLiteView
    private let db: SQLiteConnection
    /// The number of candidates that were passed.
    private var passed = 0
    /// The keys of all messages that have the tokens, in ascending order; `nil` until they are needed, and then if there are
    /// too many.
    private var matches: [Int64]?
    private var mayList: Bool

    init(_ search: CandidateSearch, in rooms: [SearchedRoom], _ view: SQLiteView, _ db: SQLiteConnection) {
        self.search = search
        self.rooms = rooms
        self.view = view
        self.db = db
        mayList = rooms.count > (search.terms.contains(where: \.isPrefix) ? 1 : Self.fewRooms)
    }

    private var isScanning: Bool { passed < search.scannedFirst }

    /// Passes `body` the candidates, newest first, until it returns false. A room is looked into once its latest message could
    /// be the next. Rooms in damaged pages of the database are left out.
    ///
    /// - Returns: The time up to which everything is indexed, in milliseconds since 1970; `nil` if nothing is missing.
    func forEachCandidate(_ body: (SearchCandidate) throws -> Bool) throws -> Int64? {
        var waiting = rooms.filter { $0.latest >= search.from }.sorted { $0.latest > $1.latest }[...]
        // The next candidate of each room that has one, the newest last.
        var open: [(next: SearchCandidate, room: SearchedMessages)] = []
        var indexedTo: Int64?
        func advance(_ room: SearchedMessages) throws {
            do {
                defer { if let time = room.indexedTo { indexedTo = min(indexedTo ?? time, time) } }
                guard let next = try room.next(self) else { return }
                let place = open.partitioningIndex { $0.next.position > next.position }
                open.insert((next, room), at: place)
            } catch let error as SQLiteError where error.isDamage {}
        }
        while true {
            while let first = waiting.first, open.last.map({ $0.next.createdAt <= first.latest }) ?? true {
                waiting.removeFirst()
                do {
                    guard let view = try view.room(first.id), !view.isDeleted, view.isSearchable else { continue }
                    try advance(SearchedMessages(view, first.id, search))
                } catch let error as SQLiteError where error.isDamage {}
            }
            guard let (candidate, room) = open.popLast() else { return indexedTo }
            var next = candidate
            next.isScanned = isScanning
            guard try body(next) else { return indexedTo }
            passed += 1
            try advance(room)
        }
    }

    /// Returns messages of a room, newest first: at most `most` before `end`, and the `seq` before which to go on.
    fileprivate func messages(
        of room: SQLiteRoom, before end: Int64, most: Int
    ) throws -> (messages: [RoomMessage], end: Int64, indexedTo: Int64?) {
        let first = search.seqs.lowerBound
        func newest(from first: Int64) throws -> (messages: [RoomMessage], end: Int64) {
            let messages = try room.newest(from: first, before: end, most: most)
            return (messages, messages.count < most ? first : messages[most - 1].seq)
        }
        if isScanning {
            let found = try newest(from: first)
            return (found.messages, found.end, nil)
        }
        let indexed = min(try db.indexedEnd(of: room.number), room.filed)
        if end > max(first, indexed + 1) {
            // Not indexed yet.
            let start = max(first, indexed + 1, room.state.head - search.scanned + 1)
            let found = try newest(from: start)
            return (
                found.messages, found.messages.count < most ? max(first, indexed + 1) : found.end,
                start > max(first, indexed + 1) ? try db.createdAt(room: room.number, seq: indexed) ?? 0 : nil
            )
        }
        let seqs = try matches(in: room.number, from: first, before: end, most: most)
        let messages = try seqs.compactMap { seq in
            try db.first("SELECT created_at, body FROM messages WHERE id = $1", RowKey(room: room.number, seq)) {
                (seq, $0.integer(0), $0.bytes(1))
            }
        }
        return (messages, seqs.count < most ? first : seqs[most - 1], nil)
    }

    /// Returns the `seq` of messages of a room that have the tokens, newest first.
    private func matches(in room: Int64, from first: Int64, before end: Int64, most: Int) throws -> [Int64] {
        if mayList, matches == nil {
            let found = try db.indexed(search.terms, most: search.listed + 1)
            if found.count > search.listed { mayList = false } else { matches = found }
        }
        guard let matches else {
            return try db.indexed(search.terms, in: room, from: first, before: end, most: most)
        }
        let lowest = RowKey(room: room, first).rawValue
        let last = matches.partitioningIndex { $0 >= RowKey(room: room, end).rawValue }
        return matches[..<last].reversed().lazy.prefix(most).prefix { $0 >= lowest }.map {
            RowKey(rawValue: $0).ordinal
        }
    }
}

/// The messages of one room in a search.
private final class SearchedMessages {
    private let room: SQLiteRoom
    private let id: RoomID
    private let search: CandidateSearch
    /// The `seq` before which to go on.
    private var end: Int64
    private var found: ArraySlice<RoomMessage> = []
    /// The number of messages that are read at once, which grows as more are needed.
    private var most = 2
    /// The time up to which everything is indexed, in milliseconds since 1970, if messages after it are missing.
    private(set) var indexedTo: Int64?

    init(_ room: SQLiteRoom, _ id: RoomID, _ search: CandidateSearch) throws {
        self.room = room
        self.id = id
        self.search = search
        end = min(room.state.head, search.seqs.upperBound) + 1
        let (time, message) = search.before
        if time < .max {
            // Times never decrease as `seq` grows. Among messages of the same time those of rooms with lower numbers come
            // later in the list.
            let limit = RowKey(rawValue: message)
            let isBefore = room.number < limit.room
            let first = try room.firstSeq(at: Timestamp(milliseconds: isBefore ? time + 1 : time))
            end = min(end, room.number == limit.room ? max(first, limit.ordinal) : first)
        }
    }

    /// Returns the next candidate; `nil` if there are no more.
    func next(_ source: MergedSearch) throws -> SearchCandidate? {
        while found.isEmpty, end > search.seqs.lowerBound {
            let read = try source.messages(of: room, before: end, most: most)
            (found, end) = (read.messages[...], read.end)
            indexedTo = indexedTo ?? read.indexedTo
            most = min(256, most * 4)
        }
        guard let first = found.popFirst(), first.createdAt >= search.from else {
            (found, end) = ([], 0)
            return nil
        }
        return SearchCandidate(
            message: RowKey(room: room.number, first.seq), room: id, createdAt: first.createdAt, body: first.body)
    }
}

extension Array {
    /// Returns the index of the first element for which `isPast` is true; it must stay true for all later ones.
    fileprivate func partitioningIndex(where isPast: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isPast(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
