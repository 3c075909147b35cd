/// What the framing of an answer depends on in the request (RFC 9112, sections 6.3 and 9.3).
public struct ReplyContext: Sendable, Hashable {
    /// True if the request was HEAD: then the answer has the length of the content, and no content.
    public var isHead: Bool
    /// The n of the request's `HTTP/1.n`.
    public var minorVersion: Int
    /// True if the connection stays open after the answer.
    public var keepAlive: Bool

    /// A context; the defaults are those of the usual request.
    public init(isHead: Bool = false, minorVersion: Int = 1, keepAlive: Bool = true) {
        self.isHead = isHead
        self.minorVersion = minorVersion
        self.keepAlive = keepAlive
    }

    /// For the answer to a request that could not be read: the connection closes after it.
    public static let refusal = ReplyContext(keepAlive: false)
}
