import Wire

/// A JSON value with members in a fixed order. The API description is made of it.
indirect enum JSONValue: Sendable {
    case string(String)
    case number(Int)
    case boolean(Bool)
    /// Encoded JSON on one line.
    case written(String)
    case array([JSONValue])
    case object([(name: String, value: JSONValue)])

    /// Returns the object with further members after its own.
    func adding(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        guard case .object(let own) = self else { preconditionFailure("only objects have members") }
        return .object(own + members.map { (name: $0.key, value: $0.value) })
    }

    /// The text of the object's member `name`; `nil` if there is none or it is not a string.
    subscript(_ name: String) -> String? {
        guard case .object(let members) = self, let member = members.first(where: { $0.name == name }),
            case .string(let text) = member.value
        else { return nil }
        return text
    }

    /// Returns an object with these members.
    static func members(_ members: some Sequence<(String, JSONValue)>) -> JSONValue {
        .object(members.map { (name: $0.0, value: $0.1) })
    }

    static func strings(_ strings: some Sequence<String>) -> JSONValue {
        .array(strings.map(JSONValue.string))
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) {
        self = .string(value)
    }

    init(integerLiteral value: Int) {
        self = .number(value)
    }

    init(booleanLiteral value: Bool) {
        self = .boolean(value)
    }

    init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .members(elements)
    }
}

extension JSONValue {
    /// Appends the value in a readable layout: one line for each member of an object, except that an object with a
    /// single plain member, or an array of plain values, takes one line.
    func write(into out: inout [UInt8], indentation: Int = 0) {
        switch self {
        case .string(let string): out.append(quoted: string)
        case .number(let number): out.append(decimal: Int64(number))
        case .boolean(let boolean): out.append(boolean: boolean)
        case .written(let text): out.append(utf8: text)
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

    private var isPlain: Bool {
        switch self {
        case .string, .number, .boolean, .written: true
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
