import FoundationEssentials

/// JSON, parsed by another parser than the server's own.
indirect enum JSON: Decodable, Equatable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(_ bytes: [UInt8]) throws {
        // Keeps names unchanged, unlike `decode`.
        self = try JSONDecoder().decode(JSON.self, from: Data(bytes))
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let boolean = try? container.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let array = try? container.decode([JSON].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    /// A member of an object; `nil` if there is none.
    subscript(_ name: String) -> JSON? { object?[name] }

    var object: [String: JSON]? { if case .object(let members) = self { members } else { nil } }
    var array: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
    var string: String? { if case .string(let string) = self { string } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }

    /// The value and all values within it, each with its place.
    var places: [(place: String, value: JSON)] {
        switch self {
        case .array(let elements):
            [("", self)] + elements.enumerated().flatMap { index, element in element.places(below: "\(index)") }
        case .object(let members): [("", self)] + members.flatMap { $0.value.places(below: $0.key) }
        default: [("", self)]
        }
    }

    private func places(below name: String) -> [(place: String, value: JSON)] {
        places.map { ("/\(name)" + $0.place, $0.value) }
    }

    /// The value as JSON text.
    var text: String {
        switch self {
        case .null: "null"
        case .boolean(let boolean): "\(boolean)"
        case .number(let number): number == number.rounded() ? "\(Int64(number))" : "\(number)"
        case .string(let string): Self.quoted(string)
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.key) + ":" + $0.value.text }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ string: String) -> String {
        "\"" + string.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
    }
}
