public import Wire

/// A request for part of the list of a user's rooms.
public struct InboxRequest: Sendable, Hashable {
    /// The position after which the part begins; `nil` for the beginning of the list.
    public var cursor: InboxCursor?
    /// Maximum number of rooms in the answer, 1 to ``Limits/rooms``.
    public var limit: Int

    /// Creates a request for at most `limit` rooms after `cursor`.
    public init(cursor: InboxCursor? = nil, limit: Int = Limits.defaultRooms) {
        self.cursor = cursor
        self.limit = limit
    }

    /// Parses the parameters of a query; `nil` is an absent parameter.
    ///
    /// - Throws: 400 `invalid_cursor`, 400 `invalid_limit`.
    public static func parse(cursor: String?, limit: String?) throws(Problem) -> InboxRequest {
        InboxRequest(
            cursor: try cursor.map { text throws(Problem) in try InboxCursor(parsing: text) },
            limit: try PageRequest.parseLimit(limit, maximum: Limits.rooms, default: Limits.defaultRooms))
    }
}
