/// Bytes read as the text of a protocol element, without making a `String` of them.
extension Span<UInt8> {
    /// Whether these bytes are `text` (ASCII), letters in either case.
    func equals(ignoringCase text: String) -> Bool {
        let other = text.utf8.span
        guard count == other.count else { return false }
        for index in indices where self[index].asciiLowercased != other[index].asciiLowercased { return false }
        return true
    }

    /// Whether these bytes are exactly `text`.
    func equals(_ text: String) -> Bool {
        let other = text.utf8.span
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] { return false }
        return true
    }

    /// Whether these bytes begin with `text` (ASCII), letters in either case.
    func hasPrefix(ignoringCase text: String) -> Bool {
        let length = text.utf8.count
        return count >= length && extracting(first: length).equals(ignoringCase: text)
    }

    /// The place of the first `byte` at or after `start`.
    func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        var index = start
        while index < count {
            if self[index] == byte { return index }
            index += 1
        }
        return nil
    }

    /// Where these bytes begin and end without the optional white space around them (RFC 9110, section 5.6.3).
    func boundsWithoutWhitespace(from start: Int, to end: Int) -> Range<Int> {
        var lower = start
        var upper = end
        while lower < upper, self[lower].isOptionalWhitespace { lower += 1 }
        while upper > lower, self[upper - 1].isOptionalWhitespace { upper -= 1 }
        return lower..<upper
    }

    /// Whether there is at least one byte and all are `tchar` (RFC 9110, section 5.6.2).
    var isToken: Bool {
        let token = ASCIISet.token
        for index in indices where !token.contains(self[index]) { return false }
        return !isEmpty
    }

    /// The string these bytes encode, or `nil` if they are not UTF-8.
    var utf8String: String? {
        guard let text = try? UTF8Span(validating: self) else { return nil }
        return String(copying: text)
    }

    /// The bytes as an array of their own.
    var copied: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        bytes.append(copying: self)
        return bytes
    }
}

extension [UInt8] {
    /// Appends the bytes of `span` with one copy.
    mutating func append(copying span: Span<UInt8>) {
        // The pointer does not leave the closure, and the array cannot alias it: a span keeps what it views from being
        // mutated for as long as it lives.
        span.withUnsafeBufferPointer { append(contentsOf: $0) }
    }

    /// Appends `number`, which is not negative, in decimal digits.
    mutating func append(decimal number: Int) {
        if number >= 10 { append(decimal: number / 10) }
        append(ASCII.zero + UInt8(truncatingIfNeeded: number % 10))
    }

    /// Appends the bytes of `text`.
    mutating func append(text: String) {
        append(copying: text.utf8.span)
    }
}
