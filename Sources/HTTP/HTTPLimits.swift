/// How much of everything one message may have. Each bound is the largest value that is still accepted.
public struct HTTPLimits: Sendable, Hashable {
    /// Bytes of the request line and the header section with their line ends and the empty line after them: 16 KiB;
    /// beyond it 431 (RFC 6585, section 5).
    public var headBytes: Int = 16 * 1024
    /// Bytes of the request-target: 8 KiB, which is more than the 8000 octets that RFC 9112, section 3, recommends to
    /// support; beyond it 414.
    public var targetBytes: Int = 8 * 1024
    /// Bytes of the method: 32; a longer one is none that this server implements, so 501 (RFC 9112, section 3).
    public var methodBytes: Int = 32
    /// Lines of the header section: 100; beyond it 431.
    public var headerFields: Int = 100
    /// Bytes of the content, after its transfer coding is removed: 256 KiB; beyond it 413, as soon as it is known.
    public var bodyBytes: Int = 256 * 1024
    /// Empty lines before a request line: 1 (RFC 9112, section 2.2, asks to ignore at least one); beyond it 400.
    public var leadingEmptyLines: Int = 1
    /// Bytes of all chunk extensions of one message together: 1 KiB; beyond it 400. They mean nothing to this server,
    /// and unbounded they would let a sender make a small body arbitrarily dear (RFC 9112, section 7.1.1).
    public var chunkExtensionBytes: Int = 1024
    /// Bytes of the trailer section with its line ends, without the empty line that ends it: 4 KiB; beyond it 431.
    public var trailerBytes: Int = 4 * 1024

    /// The defaults.
    public init() {}
}
