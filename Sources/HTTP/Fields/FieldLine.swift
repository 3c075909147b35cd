/// `field-name ":" OWS field-value OWS` (RFC 9112, section 5), given without its CRLF.
struct FieldLine: Sendable {
    /// The bytes of the name.
    let name: Range<Int>
    /// The bytes of the value, without the white space around them.
    let value: Range<Int>

    /// Splits a line into name and value. The caller has checked that it has no control characters.
    ///
    /// - Parameter start: the offset of the line; ``name`` and ``value`` are relative to the same origin.
    init(_ line: Span<UInt8>, at start: Int = 0) throws(RequestRefusal) {
        let index = line.endOfToken()
        guard index < line.count, line[index] == ASCII.colon, index > 0 else { throw Self.refusal(line) }
        let value = line.boundsWithoutWhitespace(from: index + 1, to: line.count)
        self.name = start..<start + index
        self.value = start + value.lowerBound..<start + value.upperBound
    }

    /// Returns the refusal for a line whose name does not end with a colon. White space before the colon (RFC 9112,
    /// section 5.1) and folded lines (section 5.2) are known means of request smuggling.
    private static func refusal(_ line: Span<UInt8>) -> RequestRefusal {
        if line[0].isOptionalWhitespace { return .lineFolded }
        return line.firstIndex(of: ASCII.colon) == nil ? .fieldLineInvalid : .fieldNameInvalid
    }
}
