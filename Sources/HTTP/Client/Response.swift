public import HTTPTypes

/// A response that has arrived completely, as a client sees it.
public struct Response: Sendable {
    /// The status, with the usual reason phrase or none.
    public let status: HTTPResponse.Status
    /// The header fields that the parser was told to keep.
    public var fields: HTTPFields
    /// The content, without its transfer coding, at most ``HTTPLimits/bodyBytes``.
    public var body: [UInt8]
    /// True if the connection can be used for a further request (RFC 9112, section 9.3).
    public let keepAlive: Bool
}
