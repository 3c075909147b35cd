/// The elements of a comma-separated list field (RFC 9110, section 5.6.1), such as `Connection`, `Upgrade`, `Accept` or
/// `Sec-WebSocket-Protocol`.
///
/// Empty elements are skipped, and white space around elements is dropped. A comma inside a quoted string does not
/// separate elements.
public struct ListElements: Sequence, IteratorProtocol, Sendable {
    private var rest: Substring

    /// Creates a sequence of the elements of `value`.
    public init(_ value: some StringProtocol) {
        rest = Substring(value)
    }

    /// Returns the next element, as sent.
    public mutating func next() -> Substring? {
        while !rest.isEmpty {
            let end = endOfElement()
            let element = rest[..<end].trimmingOptionalWhitespace()
            rest = end == rest.endIndex ? rest[end...] : rest[rest.utf8.index(after: end)...]
            if !element.isEmpty { return element }
        }
        return nil
    }

    private func endOfElement() -> Substring.Index {
        let bytes = rest.utf8
        var isQuoted = false
        var index = bytes.startIndex
        while index < bytes.endIndex {
            switch bytes[index] {
            case ASCII.comma where !isQuoted: return index
            case ASCII.doubleQuote: isQuoted.toggle()
            case ASCII.backslash where isQuoted:
                index = bytes.index(after: index)
                if index == bytes.endIndex { return index }
            default: break
            }
            index = bytes.index(after: index)
        }
        return index
    }
}

extension Substring {
    /// The text without the optional white space around it (RFC 9110, section 5.6.3).
    func trimmingOptionalWhitespace() -> Substring {
        var lower = utf8.startIndex
        var upper = utf8.endIndex
        while lower < upper, utf8[lower].isOptionalWhitespace { lower = utf8.index(after: lower) }
        while upper > lower, utf8[utf8.index(before: upper)].isOptionalWhitespace { upper = utf8.index(before: upper) }
        return self[lower..<upper]
    }
}

extension StringProtocol {
    /// Returns true if both are equal when ASCII case is ignored.
    func equals(ignoringASCIICase other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}
