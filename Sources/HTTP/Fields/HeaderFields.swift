public import HTTPTypes

/// The fields of a header section as they were sent, in order (RFC 9110, section 5).
///
/// The fields remain bytes until they are asked for: routes read few of the fields of a usual request, and making
/// strings of all would be most of the cost of a head.
public struct HeaderFields: Sendable {
    /// The bytes that the lines refer to, with offsets counted from ``start``.
    let bytes: [UInt8]
    private let start: Int
    private let lines: [FieldLine]

    /// Creates an empty section.
    public init() {
        self.init([], in: [], from: 0)
    }

    /// Creates the fields of a head whose first byte is at `start`.
    init(_ lines: [FieldLine], in bytes: [UInt8], from start: Int) {
        self.lines = lines
        self.bytes = bytes
        self.start = start
    }

    /// Returns the value of the first field with this name. Later fields with the same name are ignored.
    public func first(_ name: HTTPField.Name) -> String? {
        firstIndex(of: name, from: 0).map(value)
    }

    /// Returns true if there is a field with this name.
    public func contains(_ name: HTTPField.Name) -> Bool {
        firstIndex(of: name, from: 0) != nil
    }

    /// Returns the number of fields with this name. If a singleton field occurs twice, trust neither.
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

    /// Returns the elements of a list field, over all its lines in order.
    public func elements(of name: HTTPField.Name) -> [Substring] {
        self[values: name].flatMap { ListElements($0) }
    }

    /// Returns true if a list field has `element` in any of its lines. Case does not matter.
    public func lists(_ element: String, in name: HTTPField.Name) -> Bool {
        elements(of: name).contains { $0.equals(ignoringASCIICase: element) }
    }

    /// Returns true if the first field with this name has exactly this value.
    public func first(_ name: HTTPField.Name, is value: StaticString) -> Bool {
        guard let index = firstIndex(of: name, from: 0) else { return false }
        return span(of: lines[index].value) { $0.equals(value) }
    }

    /// Returns true if the value of the first field with this name is UTF-8. If it is not, ``first(_:)`` returns
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

    /// Returns the text at a range of the head. Invalid UTF-8 becomes replacement characters.
    func text(in place: Range<Int>) -> String {
        span(of: place) { $0.utf8String }
            ?? String(decoding: bytes[start + place.lowerBound..<start + place.upperBound], as: UTF8.self)
    }

    /// Returns the target at a range of the head.
    func target(in place: Range<Int>) -> Target {
        Target(bytes, start + place.lowerBound..<start + place.upperBound)
    }

    private func value(of index: Int) -> String {
        text(in: lines[index].value)
    }

    /// Calls `body` with the bytes at a range of the head.
    func span<Result>(of place: Range<Int>, _ body: (Span<UInt8>) -> Result) -> Result {
        body(bytes.span.extracting(start + place.lowerBound..<start + place.upperBound))
    }
}

/// Access to the fields one by one.
extension HeaderFields: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { 0 }
    /// The position after the last field.
    public var endIndex: Int { lines.count }

    /// The field at this position, created by each access.
    public subscript(index: Int) -> HTTPField {
        // The parser accepts only tokens as names, and every token is a valid name.
        guard let name = HTTPField.Name(text(in: lines[index].name)) else {
            preconditionFailure("a field's name has been checked")
        }
        return span(of: lines[index].value) { HTTPField(name: name, bytes: $0) }
    }
}

extension HTTPField {
    /// Creates a field with this value. Bytes that are not UTF-8 (`obs-text` of RFC 9110, section 5.5) are preserved:
    /// `value` shows replacement characters, `withUnsafeBytesOfValue` the bytes as sent.
    init(name: Name, bytes: Span<UInt8>) {
        if let text = bytes.utf8String {
            self.init(name: name, value: text)
        } else {
            self.init(name: name, value: bytes.copied)
        }
    }
}
