/// The combined Transfer-Encoding lines of a message (RFC 9112, sections 6.1 and 7).
///
/// Only a single `chunked` is supported. Anything that another party could frame differently is an error.
enum TransferCoding: Sendable, Equatable {
    /// No Transfer-Encoding.
    case none
    /// Exactly `chunked`.
    case chunked
    /// Unsupported codings, then a final `chunked`: the length could be determined, so the answer is 501.
    case unknownThenChunked
    /// Unsupported codings; a further line may still add `chunked`.
    case unknown
    /// Not a list of codings, or `chunked` more than once or not at the end (400).
    case invalid

    /// Adds the value of one line.
    mutating func add(_ value: Span<UInt8>) {
        if self == .none, value.equals(ignoringCase: "chunked") {
            self = .chunked
            return
        }
        var start = 0
        while self != .invalid {
            let end = value.firstIndex(of: ASCII.comma, from: start) ?? value.count
            addCoding(value.extracting(value.boundsWithoutWhitespace(from: start, to: end)))
            if end == value.count { break }
            start = end + 1
        }
    }

    private mutating func addCoding(_ coding: Span<UInt8>) {
        let end = coding.endOfToken()
        // A coding after chunked, an empty element, and a parameter of chunked ("chunked;q=1", RFC 9112, section 7.1)
        // leave the length ambiguous.
        guard self == .none || self == .unknown, end > 0 else {
            self = .invalid
            return
        }
        let name = coding.extracting(first: end)
        let hasParameters = end < coding.count
        if name.equals(ignoringCase: "chunked") {
            self = hasParameters ? .invalid : (self == .none ? .chunked : .unknownThenChunked)
        } else {
            self = hasParameters && !Self.startsParameters(coding[end]) ? .invalid : .unknown
        }
    }

    private static func startsParameters(_ byte: UInt8) -> Bool {
        byte == ASCII.semicolon || byte.isOptionalWhitespace
    }
}
