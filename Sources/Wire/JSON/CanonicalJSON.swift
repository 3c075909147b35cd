/// The canonical text of JSON values: two values are equal exactly if their canonical texts are.
///
/// It follows RFC 8785 except that numbers keep all their digits. RFC 8785 rounds them to doubles, which would make
/// different large integers equal.
enum CanonicalJSON {
    /// Returns the canonical text of an object. It is empty for the empty object and for an empty input.
    ///
    /// An input that is not a JSON object, or is nested deeper than a message's `data` may be, is returned unchanged.
    static func bytes(of object: [UInt8]) -> [UInt8] {
        guard !object.isEmpty else { return [] }
        var out: [UInt8] = []
        do throws(Problem) {
            var json = try JSONScanner(object)
            try append(&json, to: &out)
            try json.finish()
        } catch {
            return object
        }
        return out == Array("{}".utf8) ? [] : out
    }

    /// Reads a value and appends its canonical text. Recurses at most ``Limits/dataDepth`` levels.
    private static func append(_ json: inout JSONScanner, to out: inout [UInt8]) throws(Problem) {
        guard json.depth <= Limits.dataDepth else { throw .tooDeep("data", limit: Limits.dataDepth) }
        switch try json.peek() {
        case .object:
            try appendObject(&json, to: &out)
        case .array:
            out.append(UInt8(ascii: "["))
            try json.enterArray()
            var isFirst = true
            while try json.nextElement() {
                if !isFirst { out.append(UInt8(ascii: ",")) }
                try append(&json, to: &out)
                isFirst = false
            }
            out.append(UInt8(ascii: "]"))
        case .number:
            let number = try json.readNumber()
            CanonicalNumber(json.text[number.range]).append(to: &out)
        case .string, .boolean, .null:
            out.append(contentsOf: try json.readCompact().bytes)
        }
    }

    private static func appendObject(_ json: inout JSONScanner, to out: inout [UInt8]) throws(Problem) {
        var members: [(name: ArraySlice<UInt8>, value: [UInt8])] = []
        try json.enterObject()
        while let name = try json.nextName() {
            var value: [UInt8] = []
            try append(&json, to: &value)
            members.append((json.bytes(of: name), value))
        }
        members.sort { $0.name.lexicographicallyPrecedes($1.name) }
        out.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out.append(UInt8(ascii: "\""))
            out.append(escaped: member.name.span)
            out.append(literal: "\":")
            out.append(contentsOf: member.value)
        }
        out.append(UInt8(ascii: "}"))
    }
}
