/// The facts of a request that the answer's framing depends on (RFC 9112, sections 6.3 and 9.3).
public struct ReplyContext: Sendable, Hashable {
    /// True if the request was HEAD. The answer then gives the length of the content, but no content.
    public var isHead: Bool
    /// The n of the request's `HTTP/1.n`.
    public var minorVersion: Int
    /// True if the connection stays open after the answer.
    public var keepAlive: Bool

    /// Creates a context. The defaults are those of a usual request.
    public init(isHead: Bool = false, minorVersion: Int = 1, keepAlive: Bool = true) {
        self.isHead = isHead
        self.minorVersion = minorVersion
        self.keepAlive = keepAlive
    }

    /// The context of the answer to a request that could not be parsed: the connection closes after it.
    public static let refusal = ReplyContext(keepAlive: false)
}
