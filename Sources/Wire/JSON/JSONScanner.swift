/// The kinds of JSON values (RFC 8259, section 3).
public enum JSONKind: Sendable, Hashable {
    case object, array, string, number, boolean, null
}

/// A pull reader of one JSON text (RFC 8259), as strict as I-JSON (RFC 7493).
///
/// The caller asks for what it expects: ``peek()``, then the function for that kind. No tree is built. Strings and
/// numbers are tokens that refer to the text until their value is needed.
///
/// It refuses with 400 `invalid_json`: invalid UTF-8, a byte order mark, lone surrogates, a repeated member name in an
/// object (compared with escapes decoded), nesting deeper than ``Limits/readerDepth``, and text after the value. No
/// function recurses, so no input can exhaust the stack.
public struct JSONScanner: Sendable {
    /// The whole text, validated as UTF-8.
    let text: [UInt8]
    /// The offset of the next byte to read.
    var offset = 0
    /// The innermost open container: for an object the index in `names` of its first member name, for an array
    /// `arrayMark`; `nil` if none is open.
    private var container: Int?
    /// The other open containers in the same form, outermost first. It is empty for most inputs.
    private var around: [Int] = []
    /// The member names of all open objects, outermost first.
    private var names: [JSONString] = []
    /// True if the innermost container was entered and nothing in it has been read.
    private(set) var isAtStart = false

    private static let arrayMark = -1

    /// Creates a reader of `text`.
    ///
    /// - Throws: 400 `invalid_json` if `text` is not UTF-8.
    public init(_ text: [UInt8]) throws(Problem) {
        if let offset = text.firstInvalidUTF8 { throw .invalidJSON("Invalid UTF-8 at byte \(offset).") }
        self.text = text
        names.reserveCapacity(8)
    }

    /// Number of open containers.
    public var depth: Int { container == nil ? 0 : around.count + 1 }

    /// True if the innermost open container is an object.
    var isInObject: Bool { container != nil && container != Self.arrayMark }

    /// Returns the kind of the next value without reading it.
    public mutating func peek() throws(Problem) -> JSONKind {
        skipWhitespace()
        guard offset < text.count else { throw unexpected() }
        switch text[offset] {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
        case UInt8(ascii: "n"): return .null
        default: throw unexpected()
        }
    }

    /// Enters an object. Read its members with ``nextName()``.
    public mutating func enterObject() throws(Problem) {
        try enter(UInt8(ascii: "{"), mark: names.count)
    }

    /// Reads the name of the next member of the innermost object, or its end. Read the member's value next.
    ///
    /// - Returns: `nil` at the end of the object, which is then closed.
    public mutating func nextName() throws(Problem) -> JSONString? {
        skipWhitespace()
        if !isAtStart, next == UInt8(ascii: ",") {
            offset += 1
            skipWhitespace()
        } else if next == UInt8(ascii: "}") {
            offset += 1
            try leaveObject()
            return nil
        } else if !isAtStart {
            throw unexpected()
        }
        let name = try readString()
        names.append(name)
        skipWhitespace()
        guard next == UInt8(ascii: ":") else { throw unexpected() }
        offset += 1
        isAtStart = false
        return name
    }

    /// Enters an array. Move through its elements with ``nextElement()``.
    public mutating func enterArray() throws(Problem) {
        try enter(UInt8(ascii: "["), mark: Self.arrayMark)
    }

    /// Moves to the next element of the innermost array, or to its end. Read the element next.
    ///
    /// - Returns: `false` at the end of the array, which is then closed.
    public mutating func nextElement() throws(Problem) -> Bool {
        skipWhitespace()
        if next == UInt8(ascii: "]") {
            offset += 1
            leaveContainer()
            return false
        }
        if isAtStart {
            isAtStart = false
        } else {
            guard next == UInt8(ascii: ",") else { throw unexpected() }
            offset += 1
        }
        return true
    }

    /// Reads `true` or `false`.
    public mutating func readBoolean() throws(Problem) -> Bool {
        skipWhitespace()
        if next == UInt8(ascii: "t") {
            try read(literal: "true")
            return true
        }
        try read(literal: "false")
        return false
    }

    /// Reads `null`.
    public mutating func readNull() throws(Problem) {
        skipWhitespace()
        try read(literal: "null")
    }

    /// Throws if anything follows the value.
    public mutating func finish() throws(Problem) {
        skipWhitespace()
        guard offset == text.count else { throw unexpected() }
    }

    // MARK: Steps

    /// The next byte, if there is one.
    var next: UInt8? { offset < text.count ? text[offset] : nil }

    mutating func skipWhitespace() {
        while offset < text.count {
            switch text[offset] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): offset += 1
            default: return
            }
        }
    }

    private mutating func enter(_ bracket: UInt8, mark: Int) throws(Problem) {
        skipWhitespace()
        guard next == bracket else { throw unexpected() }
        guard depth < Limits.readerDepth else {
            throw Problem(
                code: .invalidJSON, detail: "The JSON must not be nested more than \(Limits.readerDepth) levels deep.",
                limit: Limits.readerDepth)
        }
        offset += 1
        if let container { around.append(container) }
        container = mark
        isAtStart = true
    }

    private mutating func leaveObject() throws(Problem) {
        guard let start = container else { preconditionFailure("an object is open") }
        leaveContainer()
        if let name = firstRepeated(names[start...]) {
            throw .invalidJSON("The member \"\(string(name).excerpt)\" occurs twice in one object.")
        }
        names.removeLast(names.count - start)
    }

    private mutating func leaveContainer() {
        container = around.popLast()
        isAtStart = false
    }

    private mutating func read(literal: StaticString) throws(Problem) {
        guard text.count - offset >= literal.utf8CodeUnitCount, text.has(literal, at: offset) else {
            throw unexpected()
        }
        offset += literal.utf8CodeUnitCount
    }

    /// Returns the problem for an unexpected byte or an unexpected end.
    func unexpected() -> Problem {
        guard let byte = next else { return .invalidJSON("The JSON text is incomplete.") }
        guard byte > 0x20, byte < 0x7F else { return .invalidJSON("Unexpected character at byte \(offset).") }
        return .invalidJSON("Unexpected \"\(Character(Unicode.Scalar(byte)))\" at byte \(offset).")
    }
}

extension [UInt8] {
    /// Returns true if the bytes at `offset` are `literal`. The text must be long enough.
    func has(_ literal: StaticString, at offset: Int) -> Bool {
        // The pointer is used only inside the closure, and a literal is never freed.
        literal.withUTF8Buffer { wanted in
            for index in wanted.indices where self[offset + index] != wanted[index] { return false }
            return true
        }
    }
}
