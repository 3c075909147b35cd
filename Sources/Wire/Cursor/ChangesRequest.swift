/// Which changes of a room are asked for.
public struct ChangesRequest: Sendable, Hashable {
    /// What the client has already.
    public var since: SincePosition
    /// The most messages in the answer, 1 to ``Limits/changedMessages``.
    public var limit: Int

    /// At most `limit` changes after `since`.
    public init(since: SincePosition = SincePosition(rev: 0), limit: Int = Limits.defaultChangedMessages) {
        self.since = since
        self.limit = limit
    }

    /// Reads the parameters of a query; `nil` is a parameter that is absent. Without `since` it is all that ever was.
    ///
    /// - Throws: 400 `invalid_cursor`, 400 `invalid_limit`.
    public static func parse(since: String?, epoch: String?, limit: String?) throws(Problem) -> ChangesRequest {
        ChangesRequest(
            since: try SincePosition(parsing: since ?? "0", epoch: epoch),
            limit: try PageRequest.parseLimit(
                limit, maximum: Limits.changedMessages, default: Limits.defaultChangedMessages))
    }
}
