import HTTPTypes

/// `field-name ":" OWS field-value OWS` (RFC 9112, section 5), given without its CRLF.
struct FieldLine {
    /// The bytes of the name: the line's first ones.
    let nameEnd: Int
    /// The bytes of the value, without the white space around them.
    let value: Range<Int>

    /// Takes a line apart. That it has no control characters has been checked when its end was looked for.
    init(_ line: Span<UInt8>) throws(RequestRefusal) {
        let token = ASCIISet.token
        var index = 0
        while index < line.count, token.contains(line[index]) { index += 1 }
        guard index < line.count, line[index] == ASCII.colon, index > 0 else { throw Self.refusal(line) }
        nameEnd = index
        value = line.boundsWithoutWhitespace(from: index + 1, to: line.count)
    }

    /// Why a line whose name does not end with a colon is refused. White space before the colon is the classic of
    /// request smuggling (RFC 9112, section 5.1), a folded line its sibling (section 5.2).
    private static func refusal(_ line: Span<UInt8>) -> RequestRefusal {
        if line[0].isOptionalWhitespace { return .lineFolded }
        return line.firstIndex(of: ASCII.colon) == nil ? .fieldLineInvalid : .fieldNameInvalid
    }
}

extension HTTPField {
    /// A field with this value. Bytes that are not UTF-8 (`obs-text` of RFC 9110, section 5.5) are kept as they are:
    /// `value` shows them as replacement characters, `withUnsafeBytesOfValue` as sent.
    init(name: Name, bytes: Span<UInt8>) {
        if let text = bytes.utf8String {
            self.init(name: name, value: text)
        } else {
            self.init(name: name, value: bytes.copied)
        }
    }
}
