import HTTPTypes

/// The request-target, in any of its four forms (RFC 9112, section 3.2).
///
/// Any printable ASCII except `#` is accepted. Browsers send characters that RFC 3986 excludes (`|`, `[`, `{` in
/// queries), and refusing them gains nothing: paths and queries are only compared.
///
/// Its parts are ranges of the request line. Strings are made only of the parts that are used.
struct RequestTarget: Sendable {
    enum Path: Sendable {
        /// The absolute path with its query as sent, or `*`.
        case sent(Range<Int>)
        /// The query with its question mark. No path was sent, so the path is `/`.
        case query(Range<Int>)
        /// The path that is meant, because none was sent.
        case implied(StaticString)
        /// No path, as in authority-form.
        case none
    }

    private(set) var path = Path.none
    /// The authority in absolute-form and authority-form. It replaces the Host (RFC 9112, section 3.2.2).
    private(set) var authority: Range<Int>?

    init() {}

    /// Parses a target, which must be non-empty and free of spaces, control characters and non-ASCII bytes.
    ///
    /// - Parameter start: its offset in the request line.
    init(_ text: Span<UInt8>, at start: Int, method: HTTPRequest.Method) throws(RequestRefusal) {
        if method == .connect {
            // host:port, which only CONNECT uses (RFC 9112, section 3.2.3).
            guard Authority.isValid(text, needsPort: true) else { throw .targetInvalid }
            authority = start..<start + text.count
        } else if text[0] == ASCII.slash {
            path = .sent(start..<start + text.count)
        } else if text.count == 1, text[0] == ASCII.asterisk {
            guard method == .options else { throw .targetInvalid }
            path = .sent(start..<start + 1)
        } else {
            try readAbsoluteForm(text, at: start, method: method)
        }
    }

    /// Parses `http://host[:port]/path?query` (RFC 9112, section 3.2.2).
    private mutating func readAbsoluteForm(
        _ text: Span<UInt8>, at start: Int, method: HTTPRequest.Method
    ) throws(RequestRefusal) {
        let schemeLength: Int
        if text.hasPrefix(ignoringCase: "http://") {
            schemeLength = 4
        } else if text.hasPrefix(ignoringCase: "https://") {
            schemeLength = 5
        } else {
            throw .targetInvalid
        }
        let authorityStart = schemeLength + 3
        var authorityEnd = authorityStart
        while authorityEnd < text.count, text[authorityEnd] != ASCII.slash, text[authorityEnd] != ASCII.questionMark {
            authorityEnd += 1
        }
        let host = text.extracting(authorityStart..<authorityEnd)
        guard Authority.isValid(host) else { throw .targetInvalid }
        authority = start + authorityStart..<start + authorityEnd
        if authorityEnd == text.count {
            // Without a path, OPTIONS refers to the server as a whole (RFC 9112, section 3.2.4).
            path = .implied(method == .options ? "*" : "/")
        } else if text[authorityEnd] == ASCII.slash {
            path = .sent(start + authorityEnd..<start + text.count)
        } else {
            path = .query(start + authorityEnd..<start + text.count)
        }
    }
}
