import HTTPTypes

/// The request-target, in whichever of its four forms it was sent (RFC 9112, section 3.2).
///
/// Its characters are taken as they come: printable ASCII without `#`. Browsers send some that RFC 3986 does not have
/// (`|`, `[`, `{` in queries); nothing is gained by refusing them, as paths and queries are only ever compared.
struct RequestTarget: Sendable, Equatable {
    /// Where the path is.
    enum Path: Sendable, Equatable {
        /// In the request line as it was sent.
        case sent(Range<Int>)
        /// The target has none, or not all of one, and this is what it means.
        case implied(String)
        /// In authority-form there is no path.
        case none
    }

    /// The absolute path with its query, `*` in asterisk-form.
    var path = Path.none
    /// `http` or `https` in absolute-form.
    var scheme: String?
    /// The authority in absolute-form and authority-form; it replaces the Host (RFC 9112, section 3.2.2).
    var authority: String?

    /// Reads the target, which is not empty and has no space, control or non-ASCII character.
    ///
    /// - Parameter start: where it begins in the request line.
    init(_ text: Span<UInt8>, at start: Int, method: HTTPRequest.Method) throws(RequestRefusal) {
        if method == .connect {
            try readAuthorityForm(text)
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
    private mutating func readAuthorityForm(_ text: Span<UInt8>) throws(RequestRefusal) {
        guard Authority.isValid(text, port: .required) else { throw .targetInvalid }
        authority = text.utf8String
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
        scheme = schemeLength == 4 ? "http" : "https"
        authority = host.utf8String
        if authorityEnd == text.count {
            // Without a path, OPTIONS is about the server as a whole (RFC 9112, section 3.2.4).
            path = .implied(method == .options ? "*" : "/")
        } else if text[authorityEnd] == ASCII.slash {
            path = .sent(start + authorityEnd..<start + text.count)
        } else {
            path = .implied("/" + (text.extracting(authorityEnd...).utf8String ?? ""))
        }
    }
}
