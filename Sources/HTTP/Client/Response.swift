public import HTTPTypes

/// A complete response, as a client sees it.
public struct Response: Sendable {
    /// The status, with the reason phrase that was sent; 200 and 201 have the standard phrase.
    public let status: HTTPResponse.Status
    /// The header fields that the parser was told to keep.
    public var fields: HTTPFields
    /// The content, without its transfer coding, at most ``HTTPLimits/bodyBytes``.
    public var body: [UInt8]
    /// True if the connection can be used for a further request (RFC 9112, section 9.3).
    public let keepAlive: Bool
}
