import HTTPTypes

/// A request that has arrived completely.
public struct Request: Sendable {
    /// The head.
    public let head: RequestHead
    /// The content, without its transfer coding, at most ``HTTPLimits/bodyBytes``.
    public var body: [UInt8]
    /// The n of `HTTP/1.n`: 0 or 1.
    public let minorVersion: Int
    /// True if further requests may follow on the connection (RFC 9112, section 9.3).
    ///
    /// Never after a CONNECT: its sender may have sent what is meant for the tunnel that it will not get.
    public let keepAlive: Bool

    init(_ head: RequestHead, _ line: RequestLine, _ section: HeaderSection, body: [UInt8] = []) {
        self.head = head
        self.body = body
        minorVersion = line.minorVersion
        keepAlive = section.connection.persists(minorVersion: minorVersion) && line.method != .connect
    }

    /// What the answer's framing depends on.
    public var replyContext: ReplyContext {
        ReplyContext(isHead: head.method == .head, minorVersion: minorVersion, keepAlive: keepAlive)
    }
}
