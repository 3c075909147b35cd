public import HTTPTypes

/// A request that has arrived completely.
public struct Request: Sendable {
    /// The head.
    public let head: RequestHead
    /// The content, without its transfer coding, at most ``HTTPLimits/bodyBytes``.
    public var body: [UInt8]
    /// The n of `HTTP/1.n`: 0 or 1.
    public let minorVersion: Int
    /// Whether further requests may follow on the connection (RFC 9112, section 9.3).
    ///
    /// Never after a CONNECT: its sender may have sent what is meant for the tunnel that it will not get.
    public let keepAlive: Bool
    /// What the Connection field said.
    let connection: ConnectionOptions

    init(_ head: RequestHead, _ line: RequestLine, _ section: HeaderSection, body: [UInt8] = []) {
        self.head = head
        self.body = body
        minorVersion = line.minorVersion
        connection = section.connection
        keepAlive = connection.persists(minorVersion: minorVersion) && line.method != .connect
    }

    /// The value of a field: of the first one, if there are several.
    public func field(_ name: HTTPField.Name) -> String? {
        head.headerFields.first(name)
    }

    /// Whether the client asks to go on in another protocol, given in lower case: `websocket` (RFC 9110, section 7.8).
    ///
    /// The Upgrade field counts only when Connection names it, and not in HTTP/1.0.
    public func requestsUpgrade(to name: String) -> Bool {
        guard connection.contains(.upgrade), minorVersion >= 1, keepAlive else { return false }
        return head.headerFields.lists(name, in: .upgrade)
    }

    /// What the answer's framing depends on.
    public var replyContext: ReplyContext {
        ReplyContext(isHead: head.method == .head, minorVersion: minorVersion, keepAlive: keepAlive)
    }
}
