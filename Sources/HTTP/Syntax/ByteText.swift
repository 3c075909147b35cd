/// Reading bytes as the text of a protocol element, without creating a `String`.
extension Span<UInt8> {
    /// Returns true if these bytes equal `text` (ASCII), ignoring case.
    func equals(ignoringCase text: String) -> Bool {
        text.withUTF8Span { other in
            guard count == other.count else { return false }
            for index in indices {
                // The cases of a letter differ in one bit, but so do some other characters.
                let difference = self[index] ^ other[index]
                if difference != 0, difference != 0x20 || !(0x61...0x7A).contains(self[index] | 0x20) { return false }
            }
            return true
        }
    }

    /// Returns true if these bytes are exactly `text`.
    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        // The pointer is used only inside the closure, and a literal is never freed.
        return text.withUTF8Buffer { other in
            for index in indices where self[index] != other[index] { return false }
            return true
        }
    }

    /// Returns true if these bytes begin with `text` (ASCII), ignoring case.
    func hasPrefix(ignoringCase text: String) -> Bool {
        let length = text.utf8.count
        return count >= length && extracting(first: length).equals(ignoringCase: text)
    }

    /// Returns the index of the first `byte` at or after `start`.
    ///
    /// It compares eight bytes at a time: in a word, `(x - 0x01…) & ~x & 0x80…` marks the bytes that are zero. A borrow
    /// can wrongly mark a byte only above a correctly marked one, so the lowest mark is correct.
    func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        let ones = EightBytes.ones
        var index = start
        while index + 8 <= count {
            let difference = EightBytes.load(self, at: index) ^ (ones &* UInt64(byte))
            let marks = (difference &- ones) & ~difference & (ones &* 0x80)
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count {
            if self[index] == byte { return index }
            index += 1
        }
        return nil
    }

    /// Returns the index of the first byte in `start..<end` that is neither printable ASCII nor a space, or `end`.
    ///
    /// It compares eight bytes at a time. In a word, the highest bits of `x - 0x20…` mark the bytes below 0x20, those
    /// of `x + 0x01…` mark 0x7F, and the bytes from 0x80 are already marked. A borrow or a carry can wrongly mark a
    /// byte only above a correctly marked one.
    func firstIndexOfUnprintable(from start: Int, to end: Int) -> Int {
        let ones = EightBytes.ones
        var index = start
        while index + 8 <= end {
            let word = EightBytes.load(self, at: index)
            let marks = ((word &- ones &* 0x20) | (word &+ ones) | word) & (ones &* 0x80)
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < end, self[index] &- 0x20 < 0x5F { index += 1 }
        return index
    }

    /// Returns the bounds of these bytes without the optional white space around them (RFC 9110, section 5.6.3).
    func boundsWithoutWhitespace(from start: Int, to end: Int) -> Range<Int> {
        var lower = start
        var upper = end
        while lower < upper, self[lower].isOptionalWhitespace { lower += 1 }
        while upper > lower, self[upper - 1].isOptionalWhitespace { upper -= 1 }
        return lower..<upper
    }

    /// Returns the index of the first byte at or after `start` that is not a `tchar` (RFC 9110, section 5.6.2), or the
    /// count.
    @inline(__always)
    func endOfToken(from start: Int = 0) -> Int {
        let token = ASCIISet.token
        var index = start
        while index < count, token.contains(self[index]) { index += 1 }
        return index
    }

    /// True if there is at least one byte and all are `tchar` (RFC 9110, section 5.6.2).
    var isToken: Bool { !isEmpty && endOfToken() == count }

    /// Returns true if all bytes are ASCII and none is `byte`. It compares eight at a time, as ``firstIndex(of:from:)``
    /// does.
    func isASCII(without byte: UInt8) -> Bool {
        let ones = EightBytes.ones
        var index = 0
        while index + 8 <= count {
            let word = EightBytes.load(self, at: index)
            let difference = word ^ (ones &* UInt64(byte))
            if ((difference &- ones) & ~difference | word) & (ones &* 0x80) != 0 { return false }
            index += 8
        }
        while index < count {
            if self[index] >= 0x80 || self[index] == byte { return false }
            index += 1
        }
        return true
    }

    /// The string of these bytes, which must be ASCII.
    var asciiString: String {
        // The caller has checked that every byte is ASCII, which is valid UTF-8.
        String(copying: UTF8Span(unchecked: self, isKnownASCII: true))
    }

    /// The string that these bytes encode, or `nil` if they are not UTF-8.
    var utf8String: String? {
        guard let text = try? UTF8Span(validating: self) else { return nil }
        return String(copying: text)
    }

    var copied: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        bytes.append(copying: self)
        return bytes
    }
}

extension String {
    /// Calls `body` with the UTF-8 of the string.
    ///
    /// It takes the place of the property `utf8.span`. The bytes of a short string are in the string itself, and the optimizer of
    /// Swift 6.3 may use the memory of a temporary copy again while its span is read: in a build with ThreadSanitizer,
    /// ``equals(ignoringCase:)`` found no field's name. Wire has the same function, because neither module depends on the other.
    @inline(__always)
    func withUTF8Span<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable({ body($0.span) }) { return result }
        var copy = self
        return copy.withUTF8 { body($0.span) }
    }
}

extension [UInt8] {
    /// Appends the bytes of `span` with one copy.
    mutating func append(copying span: Span<UInt8>) {
        // The pointer does not leave the closure. The array cannot alias it, because a span prevents mutation of what
        // it views.
        span.withUnsafeBufferPointer { append(contentsOf: $0) }
    }

    /// Appends `number`, which must not be negative, in decimal digits.
    mutating func append(decimal number: Int) {
        if number >= 10 { append(decimal: number / 10) }
        append(ASCII.zero + UInt8(truncatingIfNeeded: number % 10))
    }

    mutating func append(text: String) {
        text.withUTF8Span { append(copying: $0) }
    }
}

/// Eight bytes as one number. The first byte is the least significant.
enum EightBytes {
    /// A one in each byte.
    static let ones: UInt64 = 0x0101_0101_0101_0101

    @inline(__always)
    static func load(_ span: Span<UInt8>, at index: Int) -> UInt64 {
        // The load checks the bounds, and any eight bytes are a valid UInt64.
        UInt64(littleEndian: span.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }
}
