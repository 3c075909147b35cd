/// A number in a text that a ``JSONScanner`` reads.
public struct JSONNumber: Sendable, Hashable {
    /// Where it lies in the text.
    let range: Range<Int>
    /// True if it is written without fraction and exponent.
    public let isPlain: Bool
}

extension JSONScanner {
    /// Reads a number: checks its grammar (RFC 8259, section 6), of whatever size it is.
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

    /// The value of a number if it is an integer of 64 bits, in whatever way it is written: `5`, `5.0`, `0.5e1`.
    public func integer(_ token: JSONNumber) -> Int64? {
        CanonicalNumber(text[token.range]).integer
    }
}

/// A number as a sign, its significant digits and a power of ten: the same for all ways to write the number.
struct CanonicalNumber: Hashable {
    /// Never for zero.
    private(set) var isNegative = false
    /// The digits from the first to the last that is not 0, in ASCII; none for zero.
    private(set) var digits: [UInt8] = []
    /// By which power of ten the digits, taken as an integer, are to be multiplied.
    private(set) var exponent: Exponent = .value(0)

    /// A power of ten.
    enum Exponent: Hashable {
        case value(Int)
        /// Too large to be counted with, and kept as written. There are such numbers in texts of a few bytes, but
        /// nobody computes with them: they are equal if they are written alike.
        case beyond([UInt8])
    }

    /// Reads a number that has the grammar of RFC 8259, section 6.
    init(_ number: ArraySlice<UInt8>) {
        let mantissa = number.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }
        var scale = 0  // how many digits stand behind the point
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

    /// The value if it is an integer of 64 bits.
    var integer: Int64? {
        guard !digits.isEmpty else { return 0 }
        // Not as a sum: there may be as many zeros as an `Int` can say.
        guard case .value(let zeros) = exponent, zeros >= 0, zeros <= 19 - digits.count else { return nil }
        var value: Int64 = 0
        for index in 0..<digits.count + zeros {
            let digit = index < digits.count ? Int64(digits[index] - UInt8(ascii: "0")) : 0
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            // Downwards, because there is one more negative number than there are positive ones.
            let (difference, carries) = product.subtractingReportingOverflow(digit)
            if overflows || carries { return nil }
            value = difference
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    /// Appends the one way to write the number: the digits, `e` and the exponent.
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
