/// What JSON Schema (draft 2020-12) says of values: the keywords that the server's description uses, and no others.
struct JSONSchema {
    /// What `$ref` looks in.
    let document: JSON

    /// A keyword that is not known here: the validator must learn it before a schema can use it.
    struct UnknownKeyword: Error {
        let keyword: String
    }

    /// What says something of a schema and nothing of values.
    private static let annotations: Set = ["description", "examples", "default", "title"]

    /// What is wrong with a value; nothing if it is valid.
    func faults(of value: JSON, by schema: JSON, at place: String = "") throws -> [String] {
        var faults: [String] = []
        for (keyword, argument) in schema.object ?? [:] where !Self.annotations.contains(keyword) {
            if try !holds(keyword, argument, schema, for: value, at: place, &faults) {
                faults.append(
                    "\(place): \(keyword) \(argument.text.prefix(200)) does not hold for \(value.text.prefix(200))")
            }
        }
        return faults
    }

    /// Whether one keyword holds; faults of members and elements are added to `faults`.
    private func holds(
        _ keyword: String, _ argument: JSON, _ schema: JSON, for value: JSON, at place: String,
        _ faults: inout [String]
    ) throws -> Bool {
        switch keyword {
        case "$ref": faults += try self.faults(of: value, by: resolve(argument), at: place)
        case "allOf": for schema in argument.array ?? [] { faults += try self.faults(of: value, by: schema, at: place) }
        case "anyOf": return try countValid(value, argument) > 0
        case "oneOf": return try countValid(value, argument) == 1
        case "type": return (argument.array ?? [argument]).contains { Self.isType($0.string, value) }
        case "const": return value == argument
        case "enum": return argument.array?.contains(value) == true
        case "properties", "required", "additionalProperties", "propertyNames", "minProperties":
            guard let members = value.object else { return true }
            return try holdsForObject(keyword, argument, schema, members, at: place, &faults)
        case "items", "minItems", "maxItems":
            guard let elements = value.array else { return true }
            switch keyword {
            case "minItems": return Double(elements.count) >= argument.number!
            case "maxItems": return Double(elements.count) <= argument.number!
            default:
                for (index, element) in elements.enumerated() {
                    faults += try self.faults(of: element, by: argument, at: "\(place)/\(index)")
                }
            }
        case "minLength", "maxLength", "pattern", "format":
            guard let string = value.string else { return keyword == "format" ? Self.isFormat(argument, value) : true }
            switch keyword {
            case "minLength": return Double(string.unicodeScalars.count) >= argument.number!
            case "maxLength": return Double(string.unicodeScalars.count) <= argument.number!
            case "pattern": return try Self.matches(string, argument.string!)
            default: return Self.isFormat(argument, value)
            }
        case "minimum": return value.number.map { $0 >= argument.number! } ?? true
        case "maximum": return value.number.map { $0 <= argument.number! } ?? true
        default: throw UnknownKeyword(keyword: keyword)
        }
        return true
    }

    private func holdsForObject(
        _ keyword: String, _ argument: JSON, _ schema: JSON, _ members: [String: JSON], at place: String,
        _ faults: inout [String]
    ) throws -> Bool {
        switch keyword {
        case "required": return (argument.array ?? []).allSatisfy { members[$0.string!] != nil }
        case "minProperties": return Double(members.count) >= argument.number!
        case "propertyNames":
            for name in members.keys { faults += try self.faults(of: .string(name), by: argument, at: place) }
        case "properties":
            for (name, schema) in argument.object ?? [:] {
                guard let member = members[name] else { continue }
                faults += try self.faults(of: member, by: schema, at: "\(place)/\(name)")
            }
        default:
            for (name, member) in members where schema["properties"]?[name] == nil {
                faults += try self.faults(of: member, by: argument, at: "\(place)/\(name)")
            }
        }
        return true
    }

    private func countValid(_ value: JSON, _ schemas: JSON) throws -> Int {
        try (schemas.array ?? []).count { try faults(of: value, by: $0).isEmpty }
    }

    // MARK: References

    /// A reference that leads nowhere.
    struct Unresolved: Error {
        let reference: String
    }

    /// What a JSON Pointer in the document leads to.
    func resolve(_ reference: JSON) throws -> JSON {
        guard let text = reference.string, text.hasPrefix("#/") else { throw Unresolved(reference: reference.text) }
        var value = document
        for step in text.dropFirst(2).split(separator: "/") {
            guard let next = value[String(step)] else { throw Unresolved(reference: text) }
            value = next
        }
        return value
    }

    /// The value itself, or what it refers to.
    func dereference(_ value: JSON) throws -> JSON {
        guard let reference = value["$ref"] else { return value }
        return try resolve(reference)
    }

    // MARK: Plain values

    private static func isType(_ type: String?, _ value: JSON) -> Bool {
        switch (type, value) {
        case ("null", .null), ("boolean", .boolean), ("number", .number), ("string", .string), ("array", .array),
            ("object", .object):
            true
        case ("integer", .number(let number)): number == number.rounded()
        default: false
        }
    }

    /// Formats of other types than the value's hold.
    private static func isFormat(_ format: JSON, _ value: JSON) -> Bool {
        switch (format.string, value) {
        case ("int64", .number(let number)): number.magnitude <= 0x1p63
        case ("date-time", .string(let text)):
            (try? matches(text, #"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"#)) == true
        case ("int64", _), ("date-time", _): true
        default: false
        }
    }

    private static func matches(_ string: String, _ pattern: String) throws -> Bool {
        try Regex(pattern).matchingSemantics(.unicodeScalar).firstMatch(in: string) != nil
    }
}
