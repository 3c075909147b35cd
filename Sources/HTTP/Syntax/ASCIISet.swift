/// A set of ASCII characters. A membership test is one shift.
///
/// The alphabets of RFC 9110, section 5.6, and RFC 3986, section 2, that this module needs.
struct ASCIISet: Sendable {
    /// Bit n is set when the character n is a member, 0 to 63.
    private let low: UInt64
    /// Bit n is set when the character n + 64 is a member.
    private let high: UInt64

    /// Creates the set of the characters of `members`, all of which must be ASCII.
    init(_ members: String) {
        var low: UInt64 = 0
        var high: UInt64 = 0
        for byte in members.utf8 {
            precondition(byte < 128)
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
        }
        self.low = low
        self.high = high
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let word = byte < 64 ? low : high
        return byte < 128 && (word &>> UInt64(byte & 63)) & 1 == 1
    }

    private static let alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    /// `tchar`: the characters of methods, field names and most keywords (RFC 9110, section 5.6.2).
    static let token = ASCIISet(alphanumeric + "!#$%&'*+-.^_`|~")

    /// The characters of a host name that this server answers to: `unreserved` of RFC 3986, section 2.3.
    ///
    /// The grammar of `reg-name` also has `sub-delims`. They are excluded: no DNS name uses them, and a comma would be
    /// the trace of two merged `Host` lines.
    static let hostName = ASCIISet(alphanumeric + "-._~")
}
