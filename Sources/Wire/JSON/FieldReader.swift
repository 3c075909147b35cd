/// Reads the fields of a client's JSON object.
///
/// Malformed JSON ends the reading by throwing. A wrong field is only recorded, and the reading continues. The reported
/// error therefore does not depend on the order of the fields: malformed JSON takes precedence, then a field of the
/// wrong type (400), then a value that is not allowed (422).
package struct FieldReader {
    package var json: JSONScanner
    /// The error to answer with, if there is one.
    package private(set) var fault: Problem?

    /// Creates a reader that continues where `json` is.
    package init(_ json: JSONScanner) {
        self.json = json
    }

    /// Records a wrong field. The first error is kept, but a wrong type (400) replaces a value that is not allowed
    /// (422).
    package mutating func note(_ problem: @autoclosure () -> Problem, isType: Bool = false) {
        guard let fault else { return fault = problem() }
        if isType, fault.status != 400 { self.fault = problem() }
    }

    /// Ends the reading. Throws if text follows the value, or if an error was recorded.
    package mutating func finish() throws(Problem) {
        try json.finish()
        if let fault { throw fault }
    }

    private mutating func noteWrongType(_ field: FieldName, must: String) throws(Problem) {
        note(.invalidField(field.description, must: must), isType: true)
        try json.skipValue()
    }

    /// Returns true if the next value has this kind, without reading it. Any other value is read, and recorded as an
    /// error unless it is null.
    @inline(__always)
    private mutating func isNext(_ kind: JSONKind, _ field: FieldName, must: String) throws(Problem) -> Bool {
        let next = try json.peek()
        if next == kind { return true }
        if next == .null { try json.readNull() } else { try noteWrongType(field, must: must) }
        return false
    }

    /// Reads a string; `nil` for null.
    package mutating func string(_ field: FieldName, limit: Int = .max) throws(Problem) -> String? {
        guard try isNext(.string, field, must: "a string") else { return nil }
        let token = try json.readString()
        if token.hasNUL { note(.nulCharacter(field.description)) }
        if token.count > limit { note(.tooLong(field.description, limit: limit)) }
        return json.string(token)
    }

    /// Reads an integer of 64 bits; `nil` for null.
    package mutating func integer(_ field: FieldName) throws(Problem) -> Int64? {
        guard try isNext(.number, field, must: "an integer") else { return nil }
        let token = try json.readNumber()
        if let value = json.integer(token) { return value }
        note(.invalidField(field.description, must: "an integer of 64 bits"), isType: true)
        return nil
    }

    /// Reads `true` or `false`; `nil` for null.
    package mutating func boolean(_ field: FieldName) throws(Problem) -> Bool? {
        guard try isNext(.boolean, field, must: "true or false") else { return nil }
        return try json.readBoolean()
    }

    /// Reads a time (RFC 3339), rounded up to a millisecond; `nil` for null, and for what is no time, which is recorded as an
    /// error.
    package mutating func time(_ field: FieldName) throws(Problem) -> Timestamp? {
        guard let text = try string(field) else { return nil }
        if let time = Timestamp(rfc3339: text, roundsUp: true) { return time }
        note(.invalidField(field.description, must: "a time (RFC 3339) such as 2027-01-01T00:00:00Z"), isType: true)
        return nil
    }

    /// Reads an object of any content; `nil` for null.
    package mutating func compactObject(_ field: FieldName) throws(Problem) -> CompactJSON? {
        guard try isNext(.object, field, must: "an object") else { return nil }
        return try json.readCompact()
    }

    /// Enters an array. Returns `false` for null. Any other value is recorded as an error and gives `false` too.
    package mutating func enterArray(_ field: FieldName) throws(Problem) -> Bool {
        guard try isNext(.array, field, must: "an array") else { return false }
        try json.enterArray()
        return true
    }

    /// Enters a required object. Any other value is recorded as an error and gives `false`.
    package mutating func enterObject(_ field: FieldName) throws(Problem) -> Bool {
        guard try json.peek() == .object else {
            try noteWrongType(field, must: "an object")
            return false
        }
        try json.enterObject()
        return true
    }
}

extension FieldReader {
    /// Creates a reader of the members of a request's body.
    ///
    /// - Throws: 400 `invalid_json` if the body is not JSON, or not an object.
    package init(body: [UInt8]) throws(Problem) {
        self.init(try JSONScanner(body))
        guard try json.peek() == .object else { throw .invalidJSON("The body must be a JSON object.") }
        try json.enterObject()
    }
}

/// The name of a field in a ``Problem``. It becomes a string only if an error is reported.
package struct FieldName: CustomStringConvertible, ExpressibleByStringLiteral {
    private var list: StaticString?
    private var index = 0
    private var name: StaticString

    /// Creates the name of a top-level field.
    package init(stringLiteral name: StaticString) {
        self.name = name
    }

    /// Creates the name of a field of a list element, as in `attachments[0].url`. An empty name means the element
    /// itself.
    package init(_ list: StaticString, _ index: Int, _ name: StaticString = "") {
        self.list = list
        self.index = index
        self.name = name
    }

    package var description: String {
        guard let list else { return name.description }
        let element = "\(list)[\(index)]"
        return name.utf8CodeUnitCount == 0 ? element : "\(element).\(name)"
    }
}
