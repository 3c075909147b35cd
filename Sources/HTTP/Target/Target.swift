/// The path and query of a request (RFC 3986, sections 3.3 and 3.4). They are decoded only on request.
///
/// Paths are not normalized: `.` and `..` are segments like any other, and an encoded slash stays inside its segment.
public struct Target: Sendable {
    /// The bytes that contain the target, shared without a copy.
    private let bytes: [UInt8]
    private let place: Range<Int>
    /// The index of the query's question mark in ``bytes``, or the end if there is no query.
    private let pathEnd: Int
    /// True if the text equals its decoded form: ASCII without percent-encodings.
    private let isPlain: Bool

    private static let usualSegments = 6

    /// Creates a target with this text.
    public init(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(bytes, bytes.indices)
    }

    /// Creates a target from a range of `bytes`, which must be UTF-8.
    init(_ bytes: [UInt8], _ place: Range<Int>) {
        self.bytes = bytes
        self.place = place
        let text = bytes.span.extracting(place)
        pathEnd = text.firstIndex(of: ASCII.questionMark).map { $0 + place.lowerBound } ?? place.upperBound
        isPlain = text.isASCII(without: ASCII.percent)
    }

    /// The path and query as sent.
    public var text: String { text(in: place) }

    /// The path as sent.
    public var path: String { text(in: place.lowerBound..<pathEnd) }

    private func text(in place: Range<Int>) -> String {
        String(decoding: bytes[place], as: UTF8.self)
    }

    /// Returns the decoded segments: the text after each slash. `/` has one empty segment, and a path with a final
    /// slash ends with one. `*` has none.
    ///
    /// - Throws: 400 `target_encoding_invalid`.
    public func segments() throws(RequestRefusal) -> [String] {
        let bytes = bytes.span.extracting(first: pathEnd)
        guard pathEnd > place.lowerBound, bytes[place.lowerBound] == ASCII.slash else { return [] }
        var segments: [String] = []
        segments.reserveCapacity(Self.usualSegments)
        var start = place.lowerBound + 1
        while start <= pathEnd {
            let end = bytes.firstIndex(of: ASCII.slash, from: start) ?? pathEnd
            segments.append(try PercentDecoding.decode(bytes.extracting(start..<end), isPlain: isPlain))
            start = end + 1
        }
        return segments
    }

    /// Returns the decoded parameters of the query.
    ///
    /// - Throws: 400 `target_encoding_invalid`.
    public func parameters() throws(RequestRefusal) -> QueryParameters {
        var parameters = QueryParameters()
        let bytes = bytes.span.extracting(first: place.upperBound)
        var start = pathEnd + 1
        while start < bytes.count {
            let end = bytes.firstIndex(of: ASCII.ampersand, from: start) ?? bytes.count
            if end > start { try parameters.append(bytes.extracting(start..<end), isPlain: isPlain) }
            start = end + 1
        }
        return parameters
    }
}
