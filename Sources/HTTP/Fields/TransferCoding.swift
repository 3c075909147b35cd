/// What the Transfer-Encoding lines of a message say together (RFC 9112, sections 6.1 and 7).
///
/// Only a single `chunked` is understood. Anything that another party could read as another framing is an error, never
/// a guess.
enum TransferCoding: Sendable, Equatable {
    /// No Transfer-Encoding.
    case none
    /// Exactly `chunked`.
    case chunked
    /// Codings that are not implemented, and `chunked` as the last: the length would be known (501).
    case unknownThenChunked
    /// Codings that are not implemented; `chunked` may still come, on a further line.
    case unknown
    /// No list of codings, or `chunked` not once and at the end (400).
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
        // all leave the length to interpretation.
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
    /// Where the token that these bytes begin with ends, or `nil` if they begin with none.
    fileprivate var firstNonToken: Int? {
        let token = ASCIISet.token
        var index = 0
        while index < count, token.contains(self[index]) { index += 1 }
        return index > 0 ? index : nil
    }
}
