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
        // A coding after chunked, an empty element, and a parameter of chunked ("chunked;q=1", RFC 9112, section 7.1)
        // leave the length ambiguous.
        guard self == .none || self == .unknown, let first = coding.firstNonToken else {
            self = .invalid
            return
        }
        let name = coding.extracting(first: first)
        let hasParameters = first < coding.count
        if name.equals(ignoringCase: "chunked") {
            self = hasParameters ? .invalid : (self == .none ? .chunked : .unknownThenChunked)
        } else {
            self = hasParameters && !Self.startsParameters(coding[first]) ? .invalid : .unknown
        }
    }

    private static func startsParameters(_ byte: UInt8) -> Bool {
        byte == ASCII.semicolon || byte.isOptionalWhitespace
    }
}

extension Span<UInt8> {
    /// The index after the token at the start of these bytes, or `nil` if they do not begin with a token.
    fileprivate var firstNonToken: Int? {
        let token = ASCIISet.token
        var index = 0
        while index < count, token.contains(self[index]) { index += 1 }
        return index > 0 ? index : nil
    }
}
