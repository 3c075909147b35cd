import TestSupport
import Wire

/// The attachment of messages, not the one of the testing library.
typealias Attachment = Wire.Attachment

/// Returns the problem that `body` throws; `nil` if it throws none.
func problem<Value>(_ body: () throws(Problem) -> Value) -> Problem? {
    do throws(Problem) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// Returns the text that `write` appends.
func written(_ write: (inout [UInt8]) -> Void) -> String {
    var bytes: [UInt8] = []
    write(&bytes)
    return String(decoding: bytes, as: UTF8.self)
}

extension Draft {
    /// Decodes the text of a body.
    static func decode(_ body: String) throws(Problem) -> Draft {
        try decode(Array(body.utf8))
    }
}

/// Random values of the kinds that messages hold.
extension SeededGenerator {
    /// Returns a string of up to `limit` characters, with characters that are often mishandled.
    mutating func string(upTo limit: Int) -> String {
        var scalars = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...limit, using: &self) {
            let ranges: [ClosedRange<UInt32>] = [
                0x01...0x1F, 0x20...0x7F, 0x22...0x22, 0x5C...0x5C, 0x80...0x7FF, 0x800...0xD7FF, 0xE000...0xFFFF,
                0x10000...0x10FFFF,
            ]
            let value = UInt32.random(in: ranges.randomElement(using: &self) ?? 0x20...0x20, using: &self)
            if let scalar = Unicode.Scalar(value) { scalars.append(scalar) }
        }
        return String(scalars)
    }

    /// Returns a JSON value as text, with random whitespace and escapes.
    mutating func json(depth: Int = 4) -> String {
        let space = [" ", "", "\n", "\t \r", ""].randomElement(using: &self) ?? ""
        let kind = Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &self)
        let value: String
        switch kind {
        case 0: value = "null"
        case 1: value = Bool.random(using: &self) ? "true" : "false"
        case 2: value = "\(Int64.random(in: .min ... .max, using: &self))"
        case 3: value = "\(Double.random(in: -1e9...1e9, using: &self))"
        case 4, 5: value = quoted(string(upTo: 12))
        case 6:
            let count = Int.random(in: 0...4, using: &self)
            value = "[" + (0..<count).map { _ in json(depth: depth - 1) }.joined(separator: ",") + "]"
        default: value = object(depth: depth)
        }
        return space + value + space
    }

    /// Returns a JSON object as text, with distinct member names.
    mutating func object(depth: Int = 4) -> String {
        let count = Int.random(in: 0...12, using: &self)
        let members = (0..<count).map { "\(quoted("\($0)" + string(upTo: 4))) :\(json(depth: depth - 1))" }
        return "{" + members.joined(separator: ",") + "\n}"
    }

    /// Returns a string as JSON, with each character either plain or escaped.
    mutating func quoted(_ string: String) -> String {
        var out = "\""
        for scalar in string.unicodeScalars {
            let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
            if mustEscape || Int.random(in: 0..<4, using: &self) == 0 {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16, uppercase: Bool.random(using: &self))
                    out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}
