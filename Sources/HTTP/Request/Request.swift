import HTTPTypes

/// A complete request.
public struct Request: Sendable {
    /// The head.
    public let head: RequestHead
    /// The content, without its transfer coding, at most ``HTTPLimits/bodyBytes``.
    public var body: [UInt8]
    /// The n of `HTTP/1.n`: 0 or 1.
    public let minorVersion: Int
    /// True if further requests may follow on the connection (RFC 9112, section 9.3).
    ///
    /// It is false after a CONNECT: its sender may already have sent bytes that are meant for the tunnel.
    public let keepAlive: Bool

    init(_ head: RequestHead, _ line: RequestLine, _ section: HeaderSection, body: [UInt8] = []) {
        self.head = head
        self.body = body
        minorVersion = line.minorVersion
        keepAlive = section.connection.persists(minorVersion: minorVersion) && line.method != .connect
    }

    /// The facts that the answer's framing depends on.
    public var replyContext: ReplyContext {
        ReplyContext(isHead: head.method == .head, minorVersion: minorVersion, keepAlive: keepAlive)
    }
}
