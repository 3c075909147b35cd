/// A JSON value without whitespace and without needless escapes in strings. Numbers are as written.
public struct CompactJSON: Sendable {
    /// The text of the value.
    public private(set) var bytes: [UInt8] = []
    /// The nesting depth of objects and arrays: 0 for a simple value, 1 for an object of simple values.
    public private(set) var depth = 0
    /// True if any string or member name contains the character U+0000.
    public private(set) var hasNUL = false
}

extension JSONScanner {
    /// Reads a value of any kind in compact form.
    public mutating func readCompact() throws(Problem) -> CompactJSON {
        var copy: CompactJSON? = CompactJSON()
        try walk(copyingTo: &copy)
        return copy ?? CompactJSON()
    }

    /// Reads and discards a value of any kind. It is validated like any other.
    public mutating func skipValue() throws(Problem) {
        var nothing: CompactJSON?
        try walk(copyingTo: &nothing)
    }

    private mutating func walk(copyingTo copy: inout CompactJSON?) throws(Problem) {
        let outside = depth
        repeat {
            let kind = try peek()
            let start = offset
            switch kind {
            case .object:
                try enterObject()
                copy?.append(UInt8(ascii: "{"), depth: depth - outside)
            case .array:
                try enterArray()
                copy?.append(UInt8(ascii: "["), depth: depth - outside)
            case .string:
                let string = try readString()
                copy?.append(string, of: self)
            case .number:
                _ = try readNumber()
                copy?.append(text[start..<offset])
            case .boolean:
                _ = try readBoolean()
                copy?.append(text[start..<offset])
            case .null:
                try readNull()
                copy?.append(text[start..<offset])
            }
            try moveToNextValue(outside: outside, copyingTo: &copy)
        } while depth > outside
    }

    /// Leaves the containers that end here. Stops before the next value of the innermost container that is still open.
    private mutating func moveToNextValue(outside: Int, copyingTo copy: inout CompactJSON?) throws(Problem) {
        while depth > outside {
            let isFirst = isAtStart
            if isInObject {
                if let name = try nextName() {
                    if !isFirst { copy?.append(UInt8(ascii: ",")) }
                    copy?.append(name, of: self)
                    copy?.append(UInt8(ascii: ":"))
                    return
                }
                copy?.append(UInt8(ascii: "}"))
            } else {
                if try nextElement() {
                    if !isFirst { copy?.append(UInt8(ascii: ",")) }
                    return
                }
                copy?.append(UInt8(ascii: "]"))
            }
        }
    }
}

extension CompactJSON {
    fileprivate mutating func append(_ byte: UInt8, depth: Int = 0) {
        bytes.append(byte)
        self.depth = max(self.depth, depth)
    }

    fileprivate mutating func append(_ text: ArraySlice<UInt8>) {
        bytes.append(contentsOf: text)
    }

    fileprivate mutating func append(_ string: JSONString, of scanner: JSONScanner) {
        if string.hasNUL { hasNUL = true }
        bytes.append(UInt8(ascii: "\""))
        if string.isEscaped {
            bytes.append(escaped: scanner.bytes(of: string).span)
        } else {
            bytes.append(contentsOf: scanner.text[string.range])
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
