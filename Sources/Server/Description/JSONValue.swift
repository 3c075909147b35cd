import Wire

/// A JSON value with members in a fixed order, of which the API description is made. It has no null and no fractions.
indirect enum JSONValue: Sendable {
    case string(String)
    case number(Int)
    case boolean(Bool)
    case array([JSONValue])
    case object([(name: String, value: JSONValue)])

    /// The members of an object; empty for other values.
    var members: [(name: String, value: JSONValue)] {
        if case .object(let members) = self { members } else { [] }
    }

    /// The elements of an array; empty for other values.
    var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    /// The text of a string; `nil` for other values.
    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The object's member of this name; `nil` if there is none. A new member comes last.
    subscript(_ name: String) -> JSONValue? {
        get { members.first { $0.name == name }?.value }
        set {
            var members = members
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
            self = .object(members)
        }
    }

    /// Returns the value with every value in it, innermost first, replaced by what `transform` returns for it.
    func mapping(_ transform: (JSONValue) -> JSONValue) -> JSONValue {
        switch self {
        case .array(let elements): transform(.array(elements.map { $0.mapping(transform) }))
        case .object(let members): transform(.object(members.map { ($0.name, $0.value.mapping(transform)) }))
        default: transform(self)
        }
    }

    static func strings(_ strings: some Sequence<String>) -> JSONValue {
        .array(strings.map(JSONValue.string))
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    init(stringLiteral value: String) {
        self = .string(value)
    }

    init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { (name: $0.0, value: $0.1) })
    }
}

// MARK: Reading

extension JSONValue {
    /// Reads a JSON text.
    init(_ text: [UInt8]) throws(Problem) {
        var scanner = try JSONScanner(text)
        self = try Self.read(from: &scanner)
        try scanner.finish()
    }

    private static func read(from scanner: inout JSONScanner) throws(Problem) -> JSONValue {
        switch try scanner.peek() {
        case .string: return .string(scanner.string(try scanner.readString()))
        case .boolean: return .boolean(try scanner.readBoolean())
        case .number:
            let token = try scanner.readNumber()
            guard let number = scanner.integer(token) else { throw .invalidJSON("a number is not an integer") }
            return .number(Int(number))
        case .array:
            var elements: [JSONValue] = []
            try scanner.enterArray()
            while try scanner.nextElement() { elements.append(try read(from: &scanner)) }
            return .array(elements)
        case .object:
            var members: [(name: String, value: JSONValue)] = []
            try scanner.enterObject()
            while let name = try scanner.nextName() {
                members.append((scanner.string(name), try read(from: &scanner)))
            }
            return .object(members)
        case .null: throw .invalidJSON("the description has no null")
        }
    }
}

// MARK: Writing

extension JSONValue {
    /// Appends the value in a readable layout: one line for each member of an object, except that an object with a
    /// single plain member, or an array of plain values, takes one line.
    func write(into out: inout [UInt8], indentation: Int = 0) {
        switch self {
        case .string, .number, .boolean: writeLine(into: &out)
        case .array(let elements):
            let isOneLine = elements.allSatisfy(\.isPlain)
            out.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { out.append(utf8: isOneLine ? ", " : ",") }
                if !isOneLine { out.append(lineIndentedBy: indentation + 2) }
                element.write(into: &out, indentation: indentation + 2)
            }
            if !isOneLine { out.append(lineIndentedBy: indentation) }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            let isOneLine = members.count == 1 && members[0].value.isPlain
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                if !isOneLine { out.append(lineIndentedBy: indentation + 2) }
                out.append(quoted: member.name)
                out.append(literal: ": ")
                member.value.write(into: &out, indentation: indentation + 2)
            }
            if !members.isEmpty, !isOneLine { out.append(lineIndentedBy: indentation) }
            out.append(UInt8(ascii: "}"))
        }
    }

    /// Appends the value on one line without white space, as the server writes frames.
    func writeLine(into out: inout [UInt8]) {
        switch self {
        case .string(let string): out.append(quoted: string)
        case .number(let number): out.append(decimal: Int64(number))
        case .boolean(let boolean): out.append(boolean: boolean)
        case .array(let elements):
            out.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                element.writeLine(into: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                out.append(quoted: member.name)
                out.append(UInt8(ascii: ":"))
                member.value.writeLine(into: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    private var isPlain: Bool {
        switch self {
        case .string, .number, .boolean: true
        case .array(let elements): elements.isEmpty
        case .object(let members): members.isEmpty
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(lineIndentedBy spaces: Int) {
        append(UInt8(ascii: "\n"))
        append(contentsOf: repeatElement(UInt8(ascii: " "), count: spaces))
    }
}
