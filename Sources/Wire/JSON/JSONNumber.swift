/// A number token of a ``JSONScanner``.
public struct JSONNumber: Sendable, Hashable {
    /// Its range in the text.
    let range: Range<Int>
    /// True if it has neither fraction nor exponent.
    public let isPlain: Bool
}

extension JSONScanner {
    /// Reads a number of any size and checks its grammar (RFC 8259, section 6).
    public mutating func readNumber() throws(Problem) -> JSONNumber {
        skipWhitespace()
        let start = offset
        var isPlain = true
        if next == UInt8(ascii: "-") { offset += 1 }
        if next == UInt8(ascii: "0") { offset += 1 } else { try skipDigits() }
        if next == UInt8(ascii: ".") {
            isPlain = false
            offset += 1
            try skipDigits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            isPlain = false
            offset += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { offset += 1 }
            try skipDigits()
        }
        return JSONNumber(range: start..<offset, isPlain: isPlain)
    }

    private mutating func skipDigits() throws(Problem) {
        let start = offset
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
        guard offset > start else { throw unexpected() }
    }

    /// Returns the value of a number if it is a 64-bit integer, however it is written: `5`, `5.0`, `0.5e1`.
    public func integer(_ token: JSONNumber) -> Int64? {
        CanonicalNumber(text[token.range]).integer
    }

    /// Returns a number as written.
    package func string(_ token: JSONNumber) -> String {
        String(decoding: text[token.range], as: UTF8.self)
    }
}

/// A number as sign, significant digits and power of ten. All ways to write a number give the same value.
struct CanonicalNumber: Hashable {
    /// True for a negative number; false for zero.
    private(set) var isNegative = false
    /// The digits from the first to the last that is not 0, in ASCII; empty for zero.
    private(set) var digits: [UInt8] = []
    /// The power of ten that the digits, read as an integer, are multiplied by.
    private(set) var exponent: Exponent = .value(0)

    enum Exponent: Hashable {
        case value(Int)
        /// An exponent too large to compute with, kept as written. Numbers with such exponents are equal only if they
        /// are written alike.
        case beyond([UInt8])
    }

    /// Parses a number that matches the grammar of RFC 8259, section 6.
    init(_ number: ArraySlice<UInt8>) {
        let mantissa = number.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }
        var scale = 0  // number of digits after the point
        var hasPoint = false
        for byte in mantissa {
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): hasPoint = true
            default:
                if hasPoint { scale += 1 }
                if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte) }
            }
        }
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            scale -= 1
        }
        guard !digits.isEmpty else {
            isNegative = false
            return
        }
        let power = number[mantissa.endIndex...].dropFirst()
        let written = power.first == UInt8(ascii: "+") ? power.dropFirst() : power
        if written.isEmpty {
            exponent = .value(-scale)
        } else if let value = Int(String(decoding: written, as: UTF8.self)),
            case let (sum, overflow) = value.subtractingReportingOverflow(scale), !overflow
        {
            exponent = .value(sum)
        } else {
            exponent = .beyond(Array(number))
        }
    }

    /// The value if it is a 64-bit integer.
    var integer: Int64? {
        guard !digits.isEmpty else { return 0 }
        // Compared by subtraction, because `zeros` may be as large as `Int.max` and a sum could overflow.
        guard case .value(let zeros) = exponent, zeros >= 0, zeros <= 19 - digits.count else { return nil }
        var value: Int64 = 0
        for index in 0..<digits.count + zeros {
            let digit = index < digits.count ? Int64(digits[index] - UInt8(ascii: "0")) : 0
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            // Accumulates negative values, because there is one more negative integer than positive ones.
            let (difference, carries) = product.subtractingReportingOverflow(digit)
            if overflows || carries { return nil }
            value = difference
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    /// Appends the canonical form of the number: the digits, `e` and the exponent.
    func append(to out: inout [UInt8]) {
        guard !digits.isEmpty else { return out.append(UInt8(ascii: "0")) }
        switch exponent {
        case .beyond(let number): out.append(contentsOf: number)
        case .value(let exponent):
            if isNegative { out.append(UInt8(ascii: "-")) }
            out.append(contentsOf: digits)
            guard exponent != 0 else { return }
            out.append(UInt8(ascii: "e"))
            out.append(decimal: Int64(exponent))
        }
    }
}
