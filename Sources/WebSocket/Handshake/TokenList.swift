/// The comma-separated tokens of a field over all its lines (RFC 9110 §5.6.1, §5.6.2).
enum TokenList {
    /// Returns the tokens in order, or nil if an element is not a token.
    static func parse(_ lines: [String]) -> [String]? {
        let elements = elements(of: lines)
        guard elements.allSatisfy({ $0.allSatisfy(isTokenCharacter) }) else { return nil }
        return elements.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns true if an element equals `token` (lower case), ignoring case. The other elements are not checked:
    /// `Upgrade` may list protocols with versions, which are not tokens.
    static func contains(_ token: String, in lines: [String]) -> Bool {
        elements(of: lines).contains { String(decoding: $0, as: UTF8.self).lowercased() == token }
    }

    /// Returns the elements without surrounding whitespace. Empty elements are skipped.
    private static func elements(of lines: [String]) -> [Substring.UTF8View] {
        lines.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")).map(trimmed) }.filter { !$0.isEmpty }
    }

    private static func trimmed(_ element: Substring.UTF8View) -> Substring.UTF8View {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var element = element.drop(while: isSpace)
        while let last = element.last, isSpace(last) { element.removeLast() }
        return element
    }

    static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
