/// A string token of a ``JSONScanner``.
public struct JSONString: Sendable, Hashable {
    /// Its range in the text, without the quotes.
    let range: Range<Int>
    /// Number of UTF-8 bytes with escapes decoded.
    public let count: Int
    /// True if it contains escapes.
    public let isEscaped: Bool
    /// True if it contains the character U+0000.
    public let hasNUL: Bool
}

extension JSONScanner {
    /// Reads a string. Checks all of it without decoding it.
    public mutating func readString() throws(Problem) -> JSONString {
        skipWhitespace()
        guard next == UInt8(ascii: "\"") else { throw unexpected() }
        let start = offset + 1
        var excess = 0  // number of bytes by which escapes are longer than their values
        var isEscaped = false
        var hasNUL = false
        offset = text.firstSpecial(from: start)
        while next != UInt8(ascii: "\"") {
            guard next == UInt8(ascii: "\\") else { throw unexpected() }
            isEscaped = true
            let escape = try escape(at: offset)
            excess += escape.length - UTF8.width(escape.scalar)
            if escape.scalar.value == 0 { hasNUL = true }
            offset = text.firstSpecial(from: offset + escape.length)
        }
        let range = start..<offset
        offset += 1
        return JSONString(range: range, count: range.count - excess, isEscaped: isEscaped, hasNUL: hasNUL)
    }

    /// Returns the value of a string.
    public func string(_ token: JSONString) -> String {
        #if !canImport(Darwin)
        // The text is valid UTF-8 and the token lies between two quotes, so it is valid UTF-8 too.
        if !token.isEscaped, let value = try? UTF8Span(validating: text.span.extracting(token.range)) {
            return String(copying: value)
        }
        #endif
        return String(decoding: bytes(of: token), as: UTF8.self)
    }

    /// Returns the value of a string in UTF-8.
    public func bytes(of token: JSONString) -> ArraySlice<UInt8> {
        guard token.isEscaped else { return text[token.range] }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(token.count)
        var start = token.range.lowerBound
        while let slash = text[start..<token.range.upperBound].firstIndex(of: UInt8(ascii: "\\")) {
            decoded.append(contentsOf: text[start..<slash])
            // `readString` made the token and has checked the escape.
            guard let escape = try? escape(at: slash) else { break }
            decoded.append(contentsOf: escape.scalar.utf8)
            start = slash + escape.length
        }
        decoded.append(contentsOf: text[start..<token.range.upperBound])
        return decoded[...]
    }

    /// Returns true if the value of a string is `literal`.
    public func matches(_ token: JSONString, _ literal: StaticString) -> Bool {
        guard token.count == literal.utf8CodeUnitCount else { return false }
        guard token.isEscaped else { return text.has(literal, at: token.range.lowerBound) }
        return Array(bytes(of: token)).has(literal, at: 0)
    }

    /// Returns the first repeated name, if there is one.
    ///
    /// A few names are compared pairwise. Many are put into a set, whose hashes are seeded per process, so a client
    /// cannot choose names that make the comparison slow.
    func firstRepeated(_ names: ArraySlice<JSONString>) -> JSONString? {
        if names.count <= 8 {
            for index in names.indices.dropFirst() {
                let name = names[index]
                for other in names[..<index] where areSame(name, other) { return name }
            }
            return nil
        }
        var seen = Set<ArraySlice<UInt8>>(minimumCapacity: names.count)
        return names.first { !seen.insert(bytes(of: $0)).inserted }
    }

    private func areSame(_ a: JSONString, _ b: JSONString) -> Bool {
        guard a.count == b.count else { return false }
        guard !a.isEscaped, !b.isEscaped else { return bytes(of: a) == bytes(of: b) }
        let distance = b.range.lowerBound - a.range.lowerBound
        for index in a.range where text[index] != text[index + distance] { return false }
        return true
    }

    /// Decodes the escape at `offset`, and returns it with its length in bytes (RFC 8259, section 7).
    private func escape(at offset: Int) throws(Problem) -> (scalar: Unicode.Scalar, length: Int) {
        guard offset + 1 < text.count else { throw .invalidJSON("The JSON text is incomplete.") }
        switch text[offset + 1] {
        case UInt8(ascii: "\""): return ("\"", 2)
        case UInt8(ascii: "\\"): return ("\\", 2)
        case UInt8(ascii: "/"): return ("/", 2)
        case UInt8(ascii: "b"): return ("\u{08}", 2)
        case UInt8(ascii: "f"): return ("\u{0C}", 2)
        case UInt8(ascii: "n"): return ("\n", 2)
        case UInt8(ascii: "r"): return ("\r", 2)
        case UInt8(ascii: "t"): return ("\t", 2)
        case UInt8(ascii: "u"):
            guard let unit = hexadecimal(at: offset + 2) else { break }
            if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
            guard unit < 0xDC00, offset + 7 < text.count, text[offset + 6] == UInt8(ascii: "\\"),
                text[offset + 7] == UInt8(ascii: "u"), let low = hexadecimal(at: offset + 8), low & 0xFC00 == 0xDC00,
                let scalar = Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF)
            else { throw .invalidJSON("Lone surrogate at byte \(offset).") }
            return (scalar, 12)
        default: break
        }
        throw .invalidJSON("Invalid escape at byte \(offset).")
    }

    /// Returns the value of the four hexadecimal digits at `offset`.
    private func hexadecimal(at offset: Int) -> UInt32? {
        guard offset + 4 <= text.count else { return nil }
        var value: UInt32 = 0
        for byte in text[offset..<offset + 4] {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
