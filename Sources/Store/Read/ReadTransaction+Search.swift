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
    /// The number of the newest messages that are examined before the index is asked.
    var scannedFirst: Int
    /// The number of the newest messages of a room that are searched before they are indexed.
    var scanned: Int64
    /// The maximum number of matches that are listed for all rooms at once.
    var listed: Int
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
    /// True if it is one of the newest messages, which are examined before the index is asked.
    var isScanned = false

    /// The position in a list that begins with the newest.
    var position: (Int64, Int64) { (createdAt, message.rawValue) }
}

/// Searches for messages, newest first.
extension ReadTransaction {
    /// Searches one room.
    func search(_ request: SearchRequest, in id: RoomID, for query: Query) throws -> SearchSlice {
        let room = try store.room(id)
        try context.rules.check(query, of: room.map { ($0.isPrivate, $0.isDeleted) }) { user in
            try room.flatMap { try db.role(of: user, in: $0.number) } != nil
        }
        return try search(request, in: room == nil ? [] : [SearchedRoom(id: id, latest: .max)])
    }

    /// Searches the rooms of a user, also direct rooms that are not in the user's list.
    ///
    /// - Parameter isWanted: Returns true for the rooms to search.
    func search(_ request: SearchRequest, of user: UserID, where isWanted: (RoomID) -> Bool) throws -> SearchSlice {
        let rooms = try store.rooms(
            of: user, after: nil, limit: Limits.searchedRooms, withHidden: true, where: isWanted
        ).sorted { $0.activity < $1.activity }.prefix(Limits.searchedRooms)
        return try search(
            request, in: rooms.map { SearchedRoom(id: $0.activity.room, latest: $0.activity.milliseconds) })
    }

    /// Returns a part of the list. It ends early after ``Limits/searchedMessages`` candidates, or after
    /// ``StoreConfiguration/searchTime``.
    private func search(_ request: SearchRequest, in rooms: [SearchedRoom]) throws -> SearchSlice {
        guard let search = try candidateSearch(for: request) else { return SearchSlice(hits: [], next: nil) }
        // From the first candidate of the index on, so that a part has something of it, however long that took.
        var end: ContinuousClock.Instant?
        var hits: [SearchSlice.Hit] = []
        var (bytes, examined) = (0, 0)
        var (last, next): (SearchCandidate?, MessageCursor?)
        let indexedTo = try store.forEachCandidate(search, in: rooms) { candidate in
            if let last,
                hits.count == request.limit || bytes >= answerBytes || examined == Limits.searchedMessages
                    || end.map({ ContinuousClock.now >= $0 }) ?? false
            {
                next = MessageCursor(
                    epoch: context.epoch, milliseconds: last.createdAt, room: last.room, seq: last.message.ordinal)
                return false
            }
            if !candidate.isScanned { end = end ?? .now + context.configuration.searchTime }
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
        let configuration = context.configuration
        var search = CandidateSearch(
            terms: request.query.indexTerms,
            scannedFirst: min(configuration.scannedFirst, configuration.scannedMessages),
            scanned: Int64(configuration.scannedMessages), listed: configuration.listedMatches)
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
