/// A name with parameters, `name ; key=value ; key="quoted value"`: a media type, or an element of Accept (RFC 9110,
/// section 5.6.6). It returns its parameters one by one.
struct ParameterizedElement {
    /// A parameter. Its value has no quotation marks.
    struct Parameter: Equatable {
        var name: Substring
        var value: String
    }

    /// The text before the first semicolon.
    let name: Substring
    /// True once malformed text was found, which ends the parameters.
    private(set) var isMalformed = false
    private var rest: Substring.UTF8View.SubSequence

    init(_ text: some StringProtocol) {
        let text = Substring(text)
        let end = text.utf8.firstIndex(of: ASCII.semicolon) ?? text.endIndex
        name = text[..<end].trimmingOptionalWhitespace()
        rest = text[end...].utf8
    }

    mutating func next() -> Parameter? {
        skip { $0 == ASCII.semicolon || $0.isOptionalWhitespace }
        guard !rest.isEmpty else { return nil }
        let name = take { $0 != ASCII.equals && $0 != ASCII.semicolon }
        guard rest.popFirst() == ASCII.equals else { return malformed() }
        guard rest.first == ASCII.doubleQuote else {
            return Parameter(name: name, value: String(take { $0 != ASCII.semicolon }.trimmingOptionalWhitespace()))
        }
        rest.removeFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == ASCII.doubleQuote {
                skip { $0.isOptionalWhitespace }
                guard rest.isEmpty || rest.first == ASCII.semicolon else { return malformed() }
                return Parameter(name: name, value: String(decoding: value, as: UTF8.self))
            }
            if byte == ASCII.backslash, let quoted = rest.popFirst() {
                value.append(quoted)
            } else {
                value.append(byte)
            }
        }
        return malformed()
    }

    private mutating func malformed() -> Parameter? {
        isMalformed = true
        rest = rest[rest.endIndex...]
        return nil
    }

    private mutating func skip(while belongs: (UInt8) -> Bool) {
        while let byte = rest.first, belongs(byte) { rest.removeFirst() }
    }

    private mutating func take(while belongs: (UInt8) -> Bool) -> Substring {
        let end = rest.firstIndex { !belongs($0) } ?? rest.endIndex
        defer { rest = rest[end...] }
        return Substring(rest[..<end])
    }
}

extension StringProtocol {
    /// True if there is at least one character and all are `tchar` (RFC 9110, section 5.6.2).
    var isToken: Bool {
        let token = ASCIISet.token
        return !utf8.isEmpty && utf8.allSatisfy(token.contains)
    }
}
