/// Which part of the list of a user's rooms is asked for.
public struct InboxRequest: Sendable, Hashable {
    /// The place behind which it begins; `nil` for the beginning of the list.
    public var cursor: InboxCursor?
    /// The most rooms in the answer, 1 to ``Limits/rooms``.
    public var limit: Int

    /// At most `limit` rooms behind `cursor`.
    public init(cursor: InboxCursor? = nil, limit: Int = Limits.defaultRooms) {
        self.cursor = cursor
        self.limit = limit
    }

    /// Reads the parameters of a query; `nil` is a parameter that is absent.
    ///
    /// - Throws: 400 `invalid_cursor`, 400 `invalid_limit`.
    public static func parse(cursor: String?, limit: String?) throws(Problem) -> InboxRequest {
        InboxRequest(
            cursor: try cursor.map { text throws(Problem) in try InboxCursor(parsing: text) },
            limit: try PageRequest.parseLimit(limit, maximum: Limits.rooms, default: Limits.defaultRooms))
    }
}
