/// The bounds on one message. Each is the largest accepted value. A request beyond a bound is refused with the given
/// status.
public struct HTTPLimits: Sendable, Hashable {
    /// Size of the request line and the header section in bytes, with all line ends and the final empty line; 16 KiB by
    /// default. Status 431 (RFC 6585, section 5).
    public var headBytes: Int = 16 * 1024
    /// Length of the request-target in bytes; 8 KiB by default, which is more than the 8000 octets that RFC 9112,
    /// section 3, recommends. Status 414.
    public var targetBytes: Int = 8 * 1024
    /// Length of the method in bytes; 32 by default. Status 501, because longer methods are not implemented (RFC 9112,
    /// section 3).
    public var methodBytes: Int = 32
    /// Number of lines of the header section; 100 by default. Status 431.
    public var headerFields: Int = 100
    /// Size of the content in bytes, after its transfer coding is removed; 256 KiB by default. Status 413, as soon as
    /// the size is known.
    public var bodyBytes: Int = 256 * 1024
    /// Number of empty lines before a request line; 1 by default, because RFC 9112, section 2.2, asks servers to ignore
    /// at least one. Status 400.
    public var leadingEmptyLines: Int = 1
    /// Total length of all chunk extensions of one message in bytes; 1 KiB by default. Status 400. The server ignores
    /// extensions; the bound keeps a sender from making a small body expensive (RFC 9112, section 7.1.1).
    public var chunkExtensionBytes: Int = 1024
    /// Size of the trailer section in bytes, with its line ends and without the final empty line; 4 KiB by default.
    /// Status 431.
    public var trailerBytes: Int = 4 * 1024

    /// Creates the default limits.
    public init() {}
}
