public import Wire

// Searches for messages by their words.

extension BackscrollClient {
    /// Returns the messages that match, newest first, as a sequence of pages. Each page is requested when a loop asks
    /// for it.
    ///
    /// ```swift
    /// for try await page in client.search("notes \"at three\" -draft", in: "plans") {
    ///     for hit in page.hits { print(hit.message.seq, hit.ranges.map { hit.message.text[$0] }) }
    /// }
    /// ```
    ///
    /// The sequence fails with `query_invalid` if the words are no query, `index_building` while a server builds its
    /// first index, `not_available` if the server does not search, and the refusals and temporary errors of other
    /// requests. After a temporary error, an iterator requests the same page again. A cancelled task gets `cancelled`.
    ///
    /// - Parameters:
    ///   - words: 1 to 8 words, `"phrases"`, and `-words` that must not occur.
    ///   - room: The room's id; nil for all rooms that the user is a member of.
    ///   - options: The filters of the search.
    public nonisolated func search(
        _ words: String, in room: String? = nil, _ options: SearchOptions = SearchOptions()
    ) -> SearchPages {
        SearchPages(client: self, words: words, room: room, options: options)
    }

    fileprivate func searchPage(
        _ words: String, in room: String?, _ options: SearchOptions
    ) async throws(BackscrollClientError) -> SearchPage {
        let place = if let room { try path(of: room) + "/search" } else { "/v1/search" }
        let query: KeyValuePairs = [
            "q": words, "sender": options.sender, "before": options.before?.description,
            "after": options.after?.description, "has": options.has?.rawValue, "limit": options.limit?.description,
            "cursor": options.cursor,
        ]
        return try SearchPage(try await object("GET", target(place, query)))
    }
}

/// The filters of a search.
public struct SearchOptions: Hashable, Sendable {
    /// A part of messages besides their text.
    public enum Part: String, Hashable, Sendable, CaseIterable {
        /// A picture.
        case image
        /// An attachment that is neither a picture nor a link.
        case file
        /// A link: an attachment of that kind, or a URL in the text.
        case link
    }

    /// A place between messages.
    public enum Place: Hashable, Sendable, CustomStringConvertible {
        /// A time.
        case time(Timestamp)
        /// A message of the room. Only a search in one room takes it.
        case seq(Int64)

        /// The place as the server reads it.
        public var description: String {
            switch self {
            case .time(let time): "\(time)"
            case .seq(let seq): "\(seq)"
            }
        }
    }

    /// The id of the user whose messages are searched; nil for all users.
    public var sender: String?
    /// The place before which messages are searched; nil for the end.
    public var before: Place?
    /// The place after which messages are searched; nil for the beginning.
    public var after: Place?
    /// The part that messages must have; nil for any.
    public var has: Part?
    /// Maximum number of hits of a page, 1 to 200; nil for the server's default.
    public var limit: Int?
    /// The ``SearchPage/cursor`` of a page, to go on after it; nil for the first page.
    public var cursor: String?

    /// Creates options.
    public init(
        sender: String? = nil, before: Place? = nil, after: Place? = nil, has: Part? = nil, limit: Int? = nil,
        cursor: String? = nil
    ) {
        self.sender = sender
        self.before = before
        self.after = after
        self.has = has
        self.limit = limit
        self.cursor = cursor
    }
}

/// A message that matches a search.
public struct SearchHit: Hashable, Sendable {
    /// The message. ``Room/jump(to:)`` shows it in its room.
    public let message: ChatMessage
    /// The places of the words in the message's text, in units of UTF-16, as `NSString` counts them.
    public let highlights: [Range<Int>]

    /// The places of the words in ``ChatMessage/text``.
    public var ranges: [Range<String.Index>] {
        let units = message.text.utf16
        return highlights.compactMap { range in
            guard let start = units.index(units.startIndex, offsetBy: range.lowerBound, limitedBy: units.endIndex),
                let end = units.index(start, offsetBy: range.count, limitedBy: units.endIndex)
            else { return nil }
            return start..<end
        }
    }
}

/// Some of the messages that match a search.
public struct SearchPage: Hashable, Sendable {
    /// The hits, newest first. There may be none, although further pages have some.
    public let hits: [SearchHit]
    /// The place of the next page; nil if this is the last.
    public let cursor: String?
    /// The time after which messages may be missing, because the server has not indexed them yet; nil if none is.
    public let indexedTo: Timestamp?

    init(_ fields: JSONFields) throws(BackscrollClientError) {
        guard let hasMore = fields.booleans["has_more"] else { throw .lacksField }
        hits = fields.elements.compactMap { hit in
            hit.message.map { SearchHit(message: $0, highlights: hit.highlights) }
        }
        cursor = hasMore ? fields.strings["cursor"] : nil
        indexedTo = fields.strings["indexed_to"].flatMap { Timestamp(rfc3339: $0) }
    }
}

/// The pages of a search. Each loop has its own, from the first page on.
public struct SearchPages: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = SearchPage
    /// The server's refusal, or a failure of the request.
    public typealias Failure = BackscrollClientError

    let client: BackscrollClient
    let words: String
    let room: String?
    let options: SearchOptions

    /// Returns an iterator that begins with the first page.
    public func makeAsyncIterator() -> Iterator {
        Iterator(search: self, options: options)
    }

    /// The pages of one loop.
    public struct Iterator: AsyncIteratorProtocol {
        private let search: SearchPages
        private var options: SearchOptions
        private var isOver = false

        fileprivate init(search: SearchPages, options: SearchOptions) {
            self.search = search
            self.options = options
        }

        /// Requests the next page. Returns nil after the last one.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(BackscrollClientError) -> SearchPage? {
            if isOver { return nil }
            if Task.isCancelled { throw .isCancelled }
            let page = try await search.client.searchPage(search.words, in: search.room, options)
            options.cursor = page.cursor
            isOver = page.cursor == nil
            return page
        }

        /// Requests the next page, like ``next(isolation:)``.
        public mutating func next() async throws(BackscrollClientError) -> SearchPage? {
            try await next(isolation: nil)
        }
    }
}
