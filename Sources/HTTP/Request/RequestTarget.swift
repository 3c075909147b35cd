import HTTPTypes

/// The request-target, in whichever of its four forms it was sent (RFC 9112, section 3.2).
///
/// Its characters are taken as they come: printable ASCII without `#`. Browsers send some that RFC 3986 does not have
/// (`|`, `[`, `{` in queries); nothing is gained by refusing them, as paths and queries are only ever compared.
///
/// What it is made of are places in the request line, for strings are made only of what is asked for.
struct RequestTarget: Sendable {
    /// What stands for the resource.
    enum Path: Sendable {
        /// The absolute path with its query, or `*`, as it was sent.
        case sent(Range<Int>)
        /// The query of the path `/`, which was not sent, with its question mark.
        case query(Range<Int>)
        /// Nothing was sent, and this is meant.
        case implied(StaticString)
        /// In authority-form there is none.
        case none
    }

    /// The scheme of a target in absolute-form.
    enum Scheme: String, Sendable {
        case http, https
    }

    /// The path.
    private(set) var path = Path.none
    /// The scheme in absolute-form.
    private(set) var scheme: Scheme?
    /// The authority in absolute-form and authority-form; it replaces the Host (RFC 9112, section 3.2.2).
    private(set) var authority: Range<Int>?

    /// No target.
    init() {}

    /// Reads the target, which is not empty and has no space, control or non-ASCII character.
    ///
    /// - Parameter start: where it begins in the request line.
    init(_ text: Span<UInt8>, at start: Int, method: HTTPRequest.Method) throws(RequestRefusal) {
        if method == .connect {
            try readAuthorityForm(text, at: start)
        } else if text[0] == ASCII.slash {
            path = .sent(start..<start + text.count)
        } else if text.count == 1, text[0] == ASCII.asterisk {
            guard method == .options else { throw .targetInvalid }
            path = .sent(start..<start + 1)
        } else {
            try readAbsoluteForm(text, at: start, method: method)
        }
    }

    /// `host:port`, for CONNECT alone (RFC 9112, section 3.2.3).
    private mutating func readAuthorityForm(_ text: Span<UInt8>, at start: Int) throws(RequestRefusal) {
        guard Authority.isValid(text, port: .required) else { throw .targetInvalid }
        authority = start..<start + text.count
    }

    /// `http://host[:port]/path?query` (RFC 9112, section 3.2.2).
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
        guard Authority.isValid(host, port: .optional) else { throw .targetInvalid }
        scheme = schemeLength == 4 ? .http : .https
        authority = start + authorityStart..<start + authorityEnd
        if authorityEnd == text.count {
            // Without a path, OPTIONS is about the server as a whole (RFC 9112, section 3.2.4).
            path = .implied(method == .options ? "*" : "/")
        } else if text[authorityEnd] == ASCII.slash {
            path = .sent(start + authorityEnd..<start + text.count)
        } else {
            path = .query(start + authorityEnd..<start + text.count)
        }
    }
}
