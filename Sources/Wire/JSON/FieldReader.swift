/// Reads the fields of what a client sends.
///
/// A text that is not JSON ends the reading at once, by throwing. A field that is wrong is only noted, and the reading
/// goes on: so a fault of the whole text comes before a field of the wrong type (400), and that before a value that is
/// not allowed (422), wherever in the text they stand.
struct FieldReader {
    var json: JSONScanner
    /// The fault to be answered, if there is one.
    private(set) var fault: Problem?

    /// Reads the fields of what `json` reads.
    init(_ json: JSONScanner) {
        self.json = json
    }

    /// Notes that a field is wrong. The first fault counts, but those of types before those of values.
    mutating func note(_ problem: @autoclosure () -> Problem, isType: Bool = false) {
        guard let fault else { return fault = problem() }
        if isType, fault.status != 400 { self.fault = problem() }
    }

    /// Ends the reading: makes sure that nothing follows the text, and then that no fault was noted.
    mutating func finish() throws(Problem) {
        try json.finish()
        if let fault { throw fault }
    }

    private mutating func noteWrongType(_ field: FieldName, must: String) throws(Problem) {
        note(.invalidField(field.description, must: must), isType: true)
        try json.skipValue()
    }

    /// Reads a string; `nil` for null.
    mutating func string(_ field: FieldName, limit: Int = .max) throws(Problem) -> String? {
        switch try json.peek() {
        case .string:
            let token = try json.readString()
            if token.hasNUL { note(.nulCharacter(field.description)) }
            if token.count > limit { note(.tooLong(field.description, limit: limit)) }
            return json.string(token)
        case .null:
            try json.readNull()
        default:
            try noteWrongType(field, must: "a string")
        }
        return nil
    }

    /// Reads an integer of 64 bits; `nil` for null.
    mutating func integer(_ field: FieldName) throws(Problem) -> Int64? {
        switch try json.peek() {
        case .number:
            let token = try json.readNumber()
            if let value = json.integer(token) { return value }
            note(.invalidField(field.description, must: "an integer of 64 bits"), isType: true)
        case .null:
            try json.readNull()
        default:
            try noteWrongType(field, must: "an integer")
        }
        return nil
    }

    /// Reads `true` or `false`; `nil` for null.
    mutating func boolean(_ field: FieldName) throws(Problem) -> Bool? {
        switch try json.peek() {
        case .boolean:
            return try json.readBoolean()
        case .null:
            try json.readNull()
        default:
            try noteWrongType(field, must: "true or false")
        }
        return nil
    }

    /// Reads an object whatever is in it; `nil` for null.
    mutating func compactObject(_ field: FieldName) throws(Problem) -> CompactJSON? {
        switch try json.peek() {
        case .object:
            return try json.readCompact()
        case .null:
            try json.readNull()
        default:
            try noteWrongType(field, must: "an object")
        }
        return nil
    }

    /// Enters an array; `false` if there is none.
    mutating func enterArray(_ field: FieldName) throws(Problem) -> Bool {
        switch try json.peek() {
        case .array:
            try json.enterArray()
            return true
        case .null:
            try json.readNull()
        default:
            try noteWrongType(field, must: "an array")
        }
        return false
    }

    /// Enters an object that must be there.
    mutating func enterObject(_ field: FieldName) throws(Problem) -> Bool {
        guard try json.peek() == .object else {
            try noteWrongType(field, must: "an object")
            return false
        }
        try json.enterObject()
        return true
    }
}

/// What a field is called in a ``Problem``: made a string only if it comes to that.
struct FieldName: CustomStringConvertible, ExpressibleByStringLiteral {
    private var list: StaticString?
    private var index = 0
    private var name: StaticString

    /// A field of the whole.
    init(stringLiteral name: StaticString) {
        self.name = name
    }

    /// A field of an element of a list, as in `attachments[0].url`; an empty name means the element itself.
    init(_ list: StaticString, _ index: Int, _ name: StaticString = "") {
        self.list = list
        self.index = index
        self.name = name
    }

    var description: String {
        guard let list else { return name.description }
        let element = "\(list)[\(index)]"
        return name.utf8CodeUnitCount == 0 ? element : "\(element).\(name)"
    }
}
