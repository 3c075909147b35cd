import Chat
import TextSearch
import Wire

/// A search for messages that may match.
struct CandidateSearch {
    /// The tokens that a match has, all of them.
    var terms: [IndexTerm]
    /// The position before which matches lie in a list that begins with the newest: a time in milliseconds since 1970, and
    /// the key of a message.
    var before: (milliseconds: Int64, message: Int64) = (.max, .max)
    /// The time from which messages are searched, in milliseconds since 1970.
    var from = Int64.min
    /// The `seq` of matches; restricted in one room only.
    var seqs: ClosedRange<Int64> = 1...RowKey.maximumOrdinal
    /// The number of the newest messages of a room that are searched without an index.
    var scanned: Int64
}

/// A room to search.
struct SearchedRoom {
    var id: RoomID
    /// A time after which it has no message, in milliseconds since 1970.
    var latest: Int64
}

/// A message that may match a search.
struct SearchCandidate {
    var message: RowKey
    var room: RoomID
    /// The time of the message, in milliseconds since 1970.
    var createdAt: Int64
    /// Its snapshot.
    var body: [UInt8]

    /// The position in a list that begins with the newest.
    var position: (Int64, Int64) { (createdAt, message.rawValue) }
}

/// Messages of a room that may match a search, newest first.
struct RoomCandidates {
    typealias Message = (seq: Int64, createdAt: Int64, body: [UInt8])

    var messages: [Message] = []
    /// The `seq` before which to go on; the first one that is searched if there are no more candidates.
    var end: Int64
    /// The time up to which everything is indexed, in milliseconds since 1970, if messages after it are missing.
    var indexedTo: Int64?
}

/// Searches for messages, newest first.
extension ReadTransaction {
    /// Searches one room.
    func search(_ request: SearchRequest, in id: RoomID, for query: Query) throws -> SearchSlice {
        let room = try store.room(id)
        try context.checkAccess(query, to: room.map { ($0.isPrivate, $0.isDeleted) }) { user in
            try room.flatMap { try db.role(of: user, in: $0.number) } != nil
        }
        return try search(request, in: room == nil ? [] : [SearchedRoom(id: id, latest: .max)])
    }

    /// Searches the rooms of a user.
    ///
    /// - Parameter isWanted: Returns true for the rooms to search.
    func search(_ request: SearchRequest, of user: UserID, where isWanted: (RoomID) -> Bool) throws -> SearchSlice {
        let rooms = try store.rooms(of: user, after: nil, limit: Limits.searchedRooms, where: isWanted)
            .sorted { $0.activity < $1.activity }.prefix(Limits.searchedRooms)
        return try search(
            request, in: rooms.map { SearchedRoom(id: $0.activity.room, latest: $0.activity.milliseconds) })
    }

    /// Returns a part of the list. It ends early after ``Limits/searchedMessages`` candidates, or after
    /// ``StoreConfiguration/searchTime``.
    private func search(_ request: SearchRequest, in rooms: [SearchedRoom]) throws -> SearchSlice {
        guard let search = try candidateSearch(for: request) else { return SearchSlice(hits: [], next: nil) }
        // From the first candidate on, so that a part has something, however long that took.
        var end: ContinuousClock.Instant?
        var hits: [SearchSlice.Hit] = []
        var (bytes, examined) = (0, 0)
        var (last, next): (SearchCandidate?, MessageCursor?)
        let indexedTo = try store.forEachCandidate(search, in: rooms) { candidate in
            if let last,
                hits.count == request.limit || bytes >= answerBytes || examined == Limits.searchedMessages
                    || ContinuousClock.now >= end!
            {
                next = MessageCursor(
                    epoch: context.epoch, milliseconds: last.createdAt, room: last.room, seq: last.message.ordinal)
                return false
            }
            end = end ?? .now + context.configuration.searchTime
            (last, examined) = (candidate, examined + 1)
            if let highlights = try request.highlights(in: Message(decoding: candidate.body)) {
                bytes += candidate.body.count
                hits.append(SearchSlice.Hit(message: candidate.body, highlights: highlights))
            }
            return true
        }
        return SearchSlice(hits: hits, next: next, indexedTo: indexedTo.map { Timestamp(milliseconds: $0) })
    }

    /// Returns where to look for matches; `nil` if there can be none.
    private func candidateSearch(for request: SearchRequest) throws -> CandidateSearch? {
        var search = CandidateSearch(
            terms: request.query.indexTerms, scanned: Int64(context.configuration.scannedMessages))
        let position = try db.position(of: request.cursor)
        search.before = (position.0, position.1)
        var (first, last) = (Int64(1), RowKey.maximumOrdinal)
        switch request.before {
        case .seq(let seq): last = min(last, seq - 1)
        case .time(let time) where time.milliseconds <= position.0: search.before = (time.milliseconds, 0)
        default: break
        }
        switch request.after {
        case .seq(let seq): first = min(seq, RowKey.maximumOrdinal) + 1
        case .time(let time): search.from = time.milliseconds
        default: break
        }
        guard first <= last else { return nil }
        search.seqs = first...last
        return search
    }
}

extension SearchRequest {
    /// Returns the places of the query's words in a message; `nil` if the message does not match.
    fileprivate func highlights(in message: Message) -> [Range<Int>]? {
        guard !message.deleted, sender == nil || sender == message.sender else { return nil }
        if let has, !has.isPart(of: message.content) { return nil }
        return query.highlights(in: message.content.text)
    }
}

extension SearchRequest.Part {
    fileprivate func isPart(of content: Content) -> Bool {
        switch self {
        case .image: content.attachments.contains { $0.kind == .image }
        case .file: content.attachments.contains { $0.kind != .image && $0.kind != .link }
        case .link: content.attachments.contains { $0.kind == .link } || Self.hasURL(content.text)
        }
    }

    /// Returns true if a text contains `http://` or `https://`, in any case, and something after it.
    private static func hasURL(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return ["http://", "https://"].contains { start in
            let start = Array(start.utf8)
            guard bytes.count > start.count else { return false }
            return (0..<bytes.count - start.count).contains { index in
                zip(start, bytes[index...]).allSatisfy { $0 == $1 || $0 == $1 | 0x20 }
                    && bytes[index + start.count] > UInt8(ascii: " ")
            }
        }
    }
}

// MARK: The rooms of a search

extension RoomView {
    /// Returns the newest messages before `end`, whatever they contain.
    func scan(_ search: CandidateSearch, before end: Int64, most: Int) throws -> RoomCandidates {
        let first = max(search.seqs.lowerBound, state.head - search.scanned + 1)
        let messages = try newest(from: first, before: end, most: most)
        return RoomCandidates(
            messages: messages, end: messages.count < most ? search.seqs.lowerBound : messages[most - 1].seq,
            indexedTo: first > search.seqs.lowerBound ? 0 : nil)
    }
}

/// One room in a search of several.
private final class RoomSearch<Room: RoomView> {
    private let room: Room
    private let id: RoomID
    private let search: CandidateSearch
    /// The `seq` before which to go on.
    private var end: Int64
    private var found: ArraySlice<RoomCandidates.Message> = []
    /// The number of messages that are read at once, which grows as more are needed.
    private var most = 2
    private(set) var indexedTo: Int64?

    init(_ room: Room, _ id: RoomID, _ search: CandidateSearch) throws {
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
    func next() throws -> SearchCandidate? {
        while found.isEmpty, end > search.seqs.lowerBound {
            let candidates = try room.candidates(search, before: end, most: most)
            (found, end) = (candidates.messages[...], candidates.end)
            indexedTo = indexedTo ?? candidates.indexedTo
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

extension StoreView {
    /// Passes `body` the candidates of rooms, newest first, until it returns false. A room is looked into once its latest
    /// message could be the next. Rooms in damaged pages of the database are left out.
    ///
    /// - Returns: The time up to which everything is indexed, in milliseconds since 1970; `nil` if nothing is missing.
    func mergeCandidates(
        _ search: CandidateSearch, in rooms: [SearchedRoom], _ body: (SearchCandidate) throws -> Bool
    ) throws -> Int64? {
        var waiting = rooms.filter { $0.latest >= search.from }.sorted { $0.latest > $1.latest }[...]
        // The next candidate of each room that has one, the newest last.
        var open: [(next: SearchCandidate, room: RoomSearch<Room>)] = []
        var indexedTo: Int64?
        func advance(_ room: RoomSearch<Room>) throws {
            do {
                guard let next = try room.next() else { return }
                let place = open.partitioningIndex { $0.next.position > next.position }
                open.insert((next, room), at: place)
            } catch let error as SQLiteError where error.isDamage {}
        }
        while true {
            while let first = waiting.first, open.last.map({ $0.next.createdAt <= first.latest }) ?? true {
                waiting.removeFirst()
                do {
                    guard let view = try room(first.id), !view.isDeleted, view.isSearchable else { continue }
                    let room = try RoomSearch(view, first.id, search)
                    try advance(room)
                    if let time = room.indexedTo { indexedTo = min(indexedTo ?? time, time) }
                } catch let error as SQLiteError where error.isDamage {}
            }
            guard let (next, room) = open.popLast() else { return indexedTo }
            guard try body(next) else { return indexedTo }
            try advance(room)
        }
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
