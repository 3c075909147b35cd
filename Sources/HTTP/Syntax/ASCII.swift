/// The octets with a meaning in HTTP (RFC 9110, section 5.6; RFC 5234, appendix B.1).
enum ASCII {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let plus: UInt8 = 0x2B
    static let doubleQuote: UInt8 = 0x22
    static let numberSign: UInt8 = 0x23
    static let percent: UInt8 = 0x25
    static let ampersand: UInt8 = 0x26
    static let asterisk: UInt8 = 0x2A
    static let comma: UInt8 = 0x2C
    static let dot: UInt8 = 0x2E
    static let slash: UInt8 = 0x2F
    static let zero: UInt8 = 0x30
    static let colon: UInt8 = 0x3A
    static let semicolon: UInt8 = 0x3B
    static let equals: UInt8 = 0x3D
    static let questionMark: UInt8 = 0x3F
    static let leftBracket: UInt8 = 0x5B
    static let backslash: UInt8 = 0x5C
    static let rightBracket: UInt8 = 0x5D
    static let delete: UInt8 = 0x7F
}

extension UInt8 {
    /// Returns a letter in lower case, any other byte unchanged. Locale-independent: protocol elements are ASCII.
    @inline(__always)
    var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }

    /// Returns the value of a decimal digit.
    @inline(__always)
    var digitValue: Int? {
        let value = self &- ASCII.zero
        return value < 10 ? Int(value) : nil
    }

    /// Returns the value of a hexadecimal digit, in either case.
    @inline(__always)
    var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }

    /// Returns true for optional white space around field values and list elements (RFC 9110, section 5.6.3).
    @inline(__always)
    var isOptionalWhitespace: Bool { self == ASCII.space || self == ASCII.tab }

    /// Returns true for the bytes of a field value: `VCHAR`, `obs-text`, space and tab (RFC 9110, section 5.5).
    @inline(__always)
    var isFieldContent: Bool { self >= 0x20 && self != ASCII.delete || self == ASCII.tab }
}
