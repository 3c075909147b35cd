/// The bounds on one message. Each is the largest accepted value.
public struct HTTPLimits: Sendable, Hashable {
    /// Bytes of the request line and the header section, with all line ends and the final empty line: 16 KiB. Beyond it
    /// 431 (RFC 6585, section 5).
    public var headBytes: Int = 16 * 1024
    /// Bytes of the request-target: 8 KiB, above the 8000 octets that RFC 9112, section 3, recommends. Beyond it 414.
    public var targetBytes: Int = 8 * 1024
    /// Bytes of the method: 32. A longer method is not implemented, so beyond it 501 (RFC 9112, section 3).
    public var methodBytes: Int = 32
    /// Lines of the header section: 100. Beyond it 431.
    public var headerFields: Int = 100
    /// Bytes of the content, after its transfer coding is removed: 256 KiB. Beyond it 413, as soon as the size is
    /// known.
    public var bodyBytes: Int = 256 * 1024
    /// Empty lines before a request line: 1 (RFC 9112, section 2.2, asks to ignore at least one). Beyond it 400.
    public var leadingEmptyLines: Int = 1
    /// Bytes of all chunk extensions of one message together: 1 KiB. Beyond it 400. The server ignores them; the bound
    /// keeps a sender from making a small body expensive (RFC 9112, section 7.1.1).
    public var chunkExtensionBytes: Int = 1024
    /// Bytes of the trailer section with its line ends, without the final empty line: 4 KiB. Beyond it 431.
    public var trailerBytes: Int = 4 * 1024

    /// Creates the default limits.
    public init() {}
}
