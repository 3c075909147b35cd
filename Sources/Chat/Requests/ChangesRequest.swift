public import Wire

/// A request for the changes of a room.
public struct ChangesRequest: Sendable, Hashable {
    /// The position that the client has already read.
    public var since: SincePosition
    /// Maximum number of messages in the answer, 1 to ``Limits/changedMessages``.
    public var limit: Int

    /// Creates a request for at most `limit` changes after `since`.
    public init(since: SincePosition = SincePosition(rev: 0), limit: Int = Limits.defaultChangedMessages) {
        self.since = since
        self.limit = limit
    }

    /// Parses the parameters of a query; `nil` is an absent parameter. Without `since`, all changes are requested.
    ///
    /// - Throws: 400 `invalid_cursor`, 400 `invalid_limit`.
    public static func parse(since: String?, epoch: String?, limit: String?) throws(Problem) -> ChangesRequest {
        ChangesRequest(
            since: try SincePosition(parsing: since ?? "0", epoch: epoch),
            limit: try PageRequest.parseLimit(
                limit, maximum: Limits.changedMessages, default: Limits.defaultChangedMessages))
    }
}
