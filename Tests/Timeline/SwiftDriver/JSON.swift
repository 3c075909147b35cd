/// A JSON value as JavaScript reads and writes it, so that the drivers can be compared byte by byte.
///
/// Numbers are doubles. Of members with the same name only the last counts. Members whose names are array indices come
/// first, in their order. A string may contain half of a surrogate pair, see ``JSONParser``.
enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    struct Member: Hashable, Sendable {
        let name: String
        var value: JSON
    }

    /// Returns the value of the member with this name, which must be ASCII.
    subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }
}

/// The error for text that is no JSON.
struct NoJSON: Error {}

/// Reads JSON as `JSON.parse` does.
///
/// JavaScript's strings may contain half of a surrogate pair, from an escape such as `\ud83d`; Swift's may not. Such a
/// half is stored as ``mark`` and a private character, and ``JSONWriter`` restores it.
struct JSONParser {
    /// Precedes a character that stands for half of a surrogate pair, or the mark itself.
    static let mark = Unicode.Scalar(0x10_fffd as UInt32)!
    /// The offset from a surrogate to its private character.
    static let offset: UInt32 = 0x10_0000
    /// Maximum depth of arrays and objects. Text that is nested deeper is refused.
    static let maximumDepth = 1000

    private let bytes: [UInt8]
    private var place = 0
    private var depth = 0

    /// Parses a text. Invalid UTF-8 becomes U+FFFD.
    static func parse(_ text: some Sequence<UInt8>) throws(NoJSON) -> JSON {
        var parser = JSONParser(bytes: Array(String(decoding: Array(text), as: UTF8.self).utf8))
        let value = try parser.value()
        parser.skipSpace()
        guard parser.place == parser.bytes.count else { throw NoJSON() }
        return value
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { place += 1 }
    }

    private mutating func take(_ byte: Character) -> Bool {
        guard next == byte.asciiValue else { return false }
        place += 1
        return true
    }

    private mutating func takeWord(_ word: String) throws(NoJSON) {
        guard bytes[place...].starts(with: word.utf8) else { throw NoJSON() }
        place += word.utf8.count
    }

    private mutating func value() throws(NoJSON) -> JSON {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"):
            try takeWord("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try takeWord("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try takeWord("null")
            return .null
        default: return .number(try number())
        }
    }

    private mutating func enter() throws(NoJSON) {
        place += 1
        depth += 1
        if depth > Self.maximumDepth { throw NoJSON() }
        skipSpace()
    }

    private mutating func array() throws(NoJSON) -> JSON {
        try enter()
        defer { depth -= 1 }
        var elements: [JSON] = []
        if take("]") { return .array(elements) }
        while true {
            elements.append(try value())
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw NoJSON() }
        }
    }

    private mutating func object() throws(NoJSON) -> JSON {
        try enter()
        defer { depth -= 1 }
        var members: [JSON.Member] = []
        var places: [[UInt8]: Int] = [:]
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw NoJSON() }
            let name = try string()
            skipSpace()
            guard take(":") else { throw NoJSON() }
            let value = try value()
            let known = places.updateValue(members.count, forKey: Array(name.utf8))
            if let known {
                places[Array(name.utf8)] = known
                members[known].value = value
            } else {
                members.append(.init(name: name, value: value))
            }
            skipSpace()
            if take("}") { return .object(Self.inOrder(members)) }
            guard take(",") else { throw NoJSON() }
        }
    }

    private static func inOrder(_ members: [JSON.Member]) -> [JSON.Member] {
        let indices = members.compactMap { member in arrayIndex(member.name).map { (index: $0, member: member) } }
        if indices.isEmpty { return members }
        return indices.sorted { $0.index < $1.index }.map(\.member)
            + members.filter { arrayIndex($0.name) == nil }
    }

    private static func arrayIndex(_ name: String) -> UInt32? {
        guard let index = UInt32(name), index < .max, String(index) == name else { return nil }
        return index
    }

    private mutating func number() throws(NoJSON) -> Double {
        let start = place
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        guard let number = Double(String(decoding: bytes[start..<place], as: UTF8.self)) else { throw NoJSON() }
        return number
    }

    private mutating func digits() throws(NoJSON) {
        let start = place
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
        if place == start { throw NoJSON() }
    }

    private mutating func string() throws(NoJSON) -> String {
        place += 1
        var result = String.UnicodeScalarView()
        var start = place
        func plain(upTo end: Int) -> String.UnicodeScalarView {
            let text = String(decoding: bytes[start..<end], as: UTF8.self).unicodeScalars
            return text.contains(Self.mark) ? Self.marked(text) : text
        }
        while let byte = next {
            if byte == UInt8(ascii: "\"") {
                result.append(contentsOf: plain(upTo: place))
                place += 1
                return String(result)
            }
            guard byte >= 0x20 else { throw NoJSON() }
            place += 1
            guard byte == UInt8(ascii: "\\") else { continue }
            result.append(contentsOf: plain(upTo: place - 1))
            result.append(contentsOf: try escaped())
            start = place
        }
        throw NoJSON()
    }

    /// Returns a text with each mark escaped by another mark.
    static func marked(_ text: String.UnicodeScalarView) -> String.UnicodeScalarView {
        var result = String.UnicodeScalarView()
        for scalar in text {
            if scalar == mark { result.append(mark) }
            result.append(scalar)
        }
        return result
    }

    private mutating func escaped() throws(NoJSON) -> String.UnicodeScalarView {
        guard let letter = next else { throw NoJSON() }
        place += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return .init([Unicode.Scalar(letter)])
        case UInt8(ascii: "b"): return .init(["\u{8}"])
        case UInt8(ascii: "f"): return .init(["\u{c}"])
        case UInt8(ascii: "n"): return .init(["\n"])
        case UInt8(ascii: "r"): return .init(["\r"])
        case UInt8(ascii: "t"): return .init(["\t"])
        case UInt8(ascii: "u"): break
        default: throw NoJSON()
        }
        let unit = try unit()
        if let scalar = Unicode.Scalar(unit) { return .init([scalar]) }
        let end = place
        if unit < 0xdc00, bytes[place...].starts(with: "\\u".utf8) {
            place += 2
            let low = try self.unit()
            if (0xdc00...0xdfff).contains(low) {
                return .init([Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))!])
            }
            place = end
        }
        return .init([Self.mark, Unicode.Scalar(unit + Self.offset)!])
    }

    /// Reads the four hexadecimal digits of an escape.
    private mutating func unit() throws(NoJSON) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw NoJSON() }
            unit = unit << 4 + UInt32(digit)
            place += 1
        }
        return unit
    }
}

/// Writes JSON as `JSON.stringify` does.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    mutating func raw(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    mutating func write(_ value: JSON) {
        switch value {
        case .null: raw("null")
        case .bool(let flag): raw(flag ? "true" : "false")
        case .number(let number): raw(Self.text(of: number))
        case .string(let string): write(string)
        case .array(let elements):
            raw("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { raw(",") }
                write(element)
            }
            raw("]")
        case .object(let members):
            raw("{")
            for (index, member) in members.enumerated() {
                if index > 0 { raw(",") }
                write(member.name)
                raw(":")
                write(member.value)
            }
            raw("}")
        }
    }

    mutating func write(_ number: Int64) {
        raw(Self.text(of: Double(number)))
    }

    mutating func write(_ string: String) {
        raw("\"")
        var isMarked = false
        for scalar in string.unicodeScalars {
            if isMarked, scalar != JSONParser.mark {
                raw("\\u" + String(scalar.value - JSONParser.offset, radix: 16))
                isMarked = false
                continue
            }
            isMarked = scalar == JSONParser.mark && !isMarked
            if isMarked { continue }
            switch scalar {
            case "\"": raw("\\\"")
            case "\\": raw("\\\\")
            case "\u{8}": raw("\\b")
            case "\u{c}": raw("\\f")
            case "\n": raw("\\n")
            case "\r": raw("\\r")
            case "\t": raw("\\t")
            case ..<" ": raw("\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16))
            default: bytes.append(contentsOf: UTF8.encode(scalar)!)
            }
        }
        raw("\"")
    }

    /// Returns a number as JavaScript writes it (ECMA-262, Number::toString). Infinite and NaN values become null.
    static func text(of number: Double) -> String {
        guard number.isFinite else { return "null" }
        if number == 0 { return "0" }
        if abs(number) < 1e15, number == number.rounded() { return String(Int64(number)) }
        // Swift's description has the same digits, the fewest that identify the number.
        let parts = abs(number).description.split(separator: "e")
        let mantissa = parts[0].split(separator: ".")
        let whole = mantissa[0].drop { $0 == "0" }
        let fraction = mantissa.count > 1 ? mantissa[1] : ""
        let leadingZeros = whole.isEmpty ? fraction.prefix { $0 == "0" }.count : 0
        var digits = String(whole + fraction.dropFirst(leadingZeros))
        while digits.last == "0" { digits.removeLast() }
        // The number is 0.digits × 10^point.
        let point = whole.count - leadingZeros + (parts.count > 1 ? Int(parts[1])! : 0)
        let sign = number < 0 ? "-" : ""
        func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
        switch point {
        case digits.count...21 where digits.count <= 21:
            return sign + digits + zeros(point - digits.count)
        case 1...21:
            return sign + digits.prefix(point) + "." + digits.dropFirst(point)
        case -5...0:
            return sign + "0." + zeros(-point) + digits
        default:
            let exponent = point - 1
            let tail = digits.count > 1 ? "." + digits.dropFirst() : ""
            return sign + digits.prefix(1) + tail + "e" + (exponent < 0 ? "-" : "+") + String(abs(exponent))
        }
    }
}
