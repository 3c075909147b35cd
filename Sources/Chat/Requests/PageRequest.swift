public import Wire

/// A request for a page of a room.
public struct PageRequest: Sendable, Hashable {
    /// The position of the page.
    public enum Anchor: Sendable, Hashable {
        /// The last page of the room.
        case newest
        /// The page that ends just before a place.
        case before(Place)
        /// The page that begins just after a place.
        case after(Place)
        /// The page with a place in the middle.
        case around(Place)

        /// The place of the anchor, if it has one.
        public var place: Place? {
            switch self {
            case .newest: nil
            case .before(let place), .after(let place), .around(let place): place
            }
        }
    }

    /// The position of the page.
    public var anchor: Anchor
    /// Maximum number of messages in the page, 1 to ``Limits/pageMessages``.
    public var limit: Int

    /// Creates a request for at most `limit` messages at `anchor`.
    public init(anchor: Anchor = .newest, limit: Int = Limits.defaultPageMessages) {
        self.anchor = anchor
        self.limit = limit
    }

    /// Parses the parameters of a query; `nil` is an absent parameter.
    ///
    /// - Throws: 400 `invalid_cursor`, also if more than one place is given; 400 `invalid_limit`.
    public static func parse(
        before: String?, after: String?, around: String?, limit: String?
    ) throws(Problem) -> PageRequest {
        let limit = try parseLimit(limit, maximum: Limits.pageMessages, default: Limits.defaultPageMessages)
        switch (before, after, around) {
        case (nil, nil, nil):
            return PageRequest(anchor: .newest, limit: limit)
        case (let place?, nil, nil):
            return PageRequest(anchor: .before(try Place(parsing: place, field: "before")), limit: limit)
        case (nil, let place?, nil):
            return PageRequest(anchor: .after(try Place(parsing: place, field: "after")), limit: limit)
        case (nil, nil, let place?):
            return PageRequest(anchor: .around(try Place(parsing: place, field: "around")), limit: limit)
        default:
            throw .invalidCursor(
                before == nil ? "around" : "before", detail: "Use only one of before, after and around.")
        }
    }

    /// Parses the parameter `limit`; `nil` is an absent parameter.
    ///
    /// - Throws: 400 `invalid_limit` if it is not a number from 1 to `maximum`.
    public static func parseLimit(_ string: String?, maximum: Int, default: Int) throws(Problem) -> Int {
        guard let string else { return `default` }
        guard let number = Int64(clampingDigits: string), number >= 1, number <= Int64(maximum) else {
            throw .invalidLimit(maximum: maximum)
        }
        return Int(number)
    }
}
