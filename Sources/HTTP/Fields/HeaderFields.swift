public import HTTPTypes

/// The fields of a header section as they were sent, in their order (RFC 9110, section 5).
///
/// They stay the bytes that they came as. Of the ten fields of a usual request a route looks at two, and to make names
/// and values of all of them cost more than everything else that was done with a head.
public struct HeaderFields: Sendable {
    /// What the lines are places in, counted from ``start``.
    let bytes: [UInt8]
    private let start: Int
    private let lines: [FieldLine]

    /// No fields.
    public init() {
        self.init([], in: [], from: 0)
    }

    /// The fields of a head whose first byte is at `start`.
    init(_ lines: [FieldLine], in bytes: [UInt8], from start: Int) {
        self.lines = lines
        self.bytes = bytes
        self.start = start
    }

    /// The value of the first field with this name, without joining it with those that follow.
    public func first(_ name: HTTPField.Name) -> String? {
        firstIndex(of: name, from: 0).map(value)
    }

    /// Returns whether there is a field with this name.
    public func contains(_ name: HTTPField.Name) -> Bool {
        firstIndex(of: name, from: 0) != nil
    }

    /// The number of fields that have this name. Of a field that may occur once, two make neither of them trustworthy.
    public func count(of name: HTTPField.Name) -> Int {
        var count = 0
        var next = firstIndex(of: name, from: 0)
        while let index = next {
            count += 1
            next = firstIndex(of: name, from: index + 1)
        }
        return count
    }

    /// The values of all fields with this name, in order.
    public subscript(values name: HTTPField.Name) -> [String] {
        var values: [String] = []
        var next = firstIndex(of: name, from: 0)
        while let index = next {
            values.append(value(of: index))
            next = firstIndex(of: name, from: index + 1)
        }
        return values
    }

    /// The elements of a list field, of all its lines in order.
    public func elements(of name: HTTPField.Name) -> [Substring] {
        self[values: name].flatMap { ListElements($0) }
    }

    /// Returns whether a list field has `element`, in any of its lines and in any case.
    public func lists(_ element: String, in name: HTTPField.Name) -> Bool {
        elements(of: name).contains { $0.equals(ignoringASCIICase: element) }
    }

    /// Returns whether the first field with this name has exactly this value.
    public func first(_ name: HTTPField.Name, is value: StaticString) -> Bool {
        guard let index = firstIndex(of: name, from: 0) else { return false }
        return span(of: lines[index].value) { $0.equals(value) }
    }

    /// Returns whether the value of the first field with this name is UTF-8. Where it is not, ``first(_:)`` gives
    /// another text.
    public func firstIsUTF8(_ name: HTTPField.Name) -> Bool {
        guard let index = firstIndex(of: name, from: 0) else { return false }
        return span(of: lines[index].value) { $0.utf8String != nil }
    }

    private func firstIndex(of name: HTTPField.Name, from first: Int) -> Int? {
        let length = name.canonicalName.utf8.count
        for index in first..<lines.count {
            let found = lines[index].name
            if found.count == length, span(of: found, { $0.equals(ignoringCase: name.canonicalName) }) { return index }
        }
        return nil
    }

    /// The text in a place of the head. What is not UTF-8 becomes replacement characters.
    func text(in place: Range<Int>) -> String {
        span(of: place) { $0.utf8String }
            ?? String(decoding: bytes[start + place.lowerBound..<start + place.upperBound], as: UTF8.self)
    }

    /// The target in a place of the head.
    func target(in place: Range<Int>) -> Target {
        Target(bytes, start + place.lowerBound..<start + place.upperBound)
    }

    private func value(of index: Int) -> String {
        text(in: lines[index].value)
    }

    /// Calls `body` with the bytes in a place of the head.
    func span<Result>(of place: Range<Int>, _ body: (Span<UInt8>) -> Result) -> Result {
        body(bytes.span.extracting(start + place.lowerBound..<start + place.upperBound))
    }
}

/// The fields one by one, for those who look at all of them.
extension HeaderFields: RandomAccessCollection {
    /// The place of the first field.
    public var startIndex: Int { 0 }
    /// The place after the last one.
    public var endIndex: Int { lines.count }

    /// The field in this place, made for whoever asks.
    public subscript(index: Int) -> HTTPField {
        // Only a token is taken for a name, which is all that a name must be.
        guard let name = HTTPField.Name(text(in: lines[index].name)) else {
            preconditionFailure("a field's name has been checked")
        }
        return span(of: lines[index].value) { HTTPField(name: name, bytes: $0) }
    }
}

extension HTTPField {
    /// A field with this value. Bytes that are not UTF-8 (`obs-text` of RFC 9110, section 5.5) are kept as they are:
    /// `value` shows them as replacement characters, `withUnsafeBytesOfValue` as sent.
    init(name: Name, bytes: Span<UInt8>) {
        if let text = bytes.utf8String {
            self.init(name: name, value: text)
        } else {
            self.init(name: name, value: bytes.copied)
        }
    }
}
