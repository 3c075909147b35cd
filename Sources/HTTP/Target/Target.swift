/// The path and query of a request (RFC 3986, sections 3.3 and 3.4). Decoding waits until it is asked for.
///
/// Paths are not normalised: `.` and `..` are segments like any other, and an encoded slash stays inside its segment.
public struct Target: Sendable, Hashable {
    /// The path and query as sent.
    public let text: String
    /// Where the query's question mark is, in bytes.
    private let pathEnd: Int

    /// The target with this text: `HTTPRequest.path`.
    public init(_ text: String) {
        self.text = text
        let bytes = text.utf8.span
        pathEnd = bytes.firstIndex(of: ASCII.questionMark) ?? bytes.count
    }

    /// Whether there is a query, be it an empty one.
    public var hasQuery: Bool { pathEnd < text.utf8.count }

    /// The path as sent.
    public var path: Substring {
        text[..<text.utf8.index(text.startIndex, offsetBy: pathEnd)]
    }

    /// The query as sent, without its question mark; empty if there is none.
    public var query: Substring {
        hasQuery ? text[text.utf8.index(text.startIndex, offsetBy: pathEnd + 1)...] : ""
    }

    /// The decoded segments: what stands after each slash. `/` has one, which is empty; so has a path with a slash at
    /// its end. `*` has none.
    ///
    /// - Throws: 400 `target_encoding_invalid`.
    public func segments() throws(RequestRefusal) -> [String] {
        let bytes = text.utf8.span
        guard pathEnd > 0, bytes[0] == ASCII.slash else { return [] }
        var segments: [String] = []
        segments.reserveCapacity(6)
        var start = 1
        while start <= pathEnd {
            var end = start
            while end < pathEnd, bytes[end] != ASCII.slash { end += 1 }
            segments.append(try PercentDecoding.decode(bytes.extracting(start..<end)))
            start = end + 1
        }
        return segments
    }

    /// The decoded parameters of the query.
    ///
    /// - Throws: 400 `target_encoding_invalid`.
    public func parameters() throws(RequestRefusal) -> QueryParameters {
        var parameters = QueryParameters()
        guard hasQuery else { return parameters }
        let bytes = text.utf8.span
        var start = pathEnd + 1
        while start < bytes.count {
            let end = bytes.firstIndex(of: ASCII.ampersand, from: start) ?? bytes.count
            if end > start { try parameters.append(bytes.extracting(start..<end)) }
            start = end + 1
        }
        return parameters
    }
}
