public import TextSearch
public import Wire

/// A search for messages, in one room or in all rooms of a user.
public struct SearchRequest: Sendable, Equatable {
    /// A part of a message besides its text.
    public enum Part: String, Sendable, Hashable, CaseIterable {
        /// An attachment of the kind ``Attachment/Kind/image``.
        case image
        /// An attachment of another kind than an image or a link.
        case file
        /// A link: an attachment of that kind, or an `http` or `https` URL in the text.
        case link
    }

    /// The query that the text must match.
    public var query: SearchQuery
    /// The sender; `nil` for all.
    public var sender: UserID?
    /// The messages before this place are searched. A `seq` only in one room.
    public var before: Place?
    /// The messages after this place are searched. A `seq` only in one room.
    public var after: Place?
    /// The part that the messages must contain; `nil` for any.
    public var has: Part?
    /// Maximum number of hits in the answer, 1 to ``Limits.pageMessages``.
    public var limit: Int
    /// The position after which the part of the list begins; `nil` for the newest message.
    public var cursor: MessageCursor?

    /// Creates a search.
    public init(
        _ query: SearchQuery, sender: UserID? = nil, before: Place? = nil, after: Place? = nil, has: Part? = nil,
        limit: Int = Limits.defaultPageMessages, cursor: MessageCursor? = nil
    ) {
        self.query = query
        self.sender = sender
        self.before = before
        self.after = after
        self.has = has
        self.limit = limit
        self.cursor = cursor
    }

    /// Parses the parameters of a search.
    ///
    /// - Parameters:
    ///   - isInRoom: True for a search in one room, whose places may be a `seq`.
    ///   - value: Returns the value of a parameter; `nil` when it is absent.
    /// - Throws: 422 `query_invalid`, 400 `invalid_user`, 400 `invalid_cursor`, 400 `invalid_field`, 400 `invalid_limit`.
    public static func parse(
        isInRoom: Bool, _ value: (String) throws(Problem) -> String?
    ) throws(Problem) -> SearchRequest {
        let words = try value("q") ?? ""
        let query: SearchQuery
        do throws(SearchQueryError) {
            query = try SearchQuery(words)
        } catch {
            throw .queryInvalid(error.detail)
        }
        return SearchRequest(
            query,
            sender: try value("sender").map { name throws(Problem) in try UserID(name) },
            before: try place("before", isInRoom, value("before")),
            after: try place("after", isInRoom, value("after")),
            has: try value("has").map { name throws(Problem) in
                guard let part = Part(rawValue: name) else {
                    throw .invalidField("has", must: "image, file or link")
                }
                return part
            },
            limit: try PageRequest.parseLimit(
                value("limit"), maximum: Limits.pageMessages, default: Limits.defaultPageMessages),
            cursor: try value("cursor").map { text throws(Problem) in try MessageCursor(parsing: text) })
    }

    private static func place(_ field: String, _ isInRoom: Bool, _ text: String?) throws(Problem) -> Place? {
        guard let text else { return nil }
        switch try? Place(parsing: text, field: field) {
        case .seq(let seq) where isInRoom: return .seq(seq)
        case .time(let time): return .time(time)
        default:
            throw .invalidCursor(
                field, detail: "\(field) must be an RFC 3339 time\(isInRoom ? " or a seq" : "").")
        }
    }
}
