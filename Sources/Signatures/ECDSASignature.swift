/// The two forms of an ECDSA signature on P-256.
///
/// JSON Web Signatures carry r and s as 32 bytes each, one after the other (RFC 7518, section 3.4). OpenSSL reads and
/// writes a DER sequence of two integers (RFC 3279, section 2.2.3).
enum ECDSASignature {
    /// Size of r and of s in bytes.
    static let scalarSize = 32

    private static let sequenceTag: UInt8 = 0x30
    private static let integerTag: UInt8 = 0x02

    /// Converts r || s to DER.
    ///
    /// - Returns: `nil` unless `raw` has exactly 64 bytes.
    static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 2 * scalarSize else { return nil }
        let integers = integer(raw[..<scalarSize]) + integer(raw[scalarSize...])
        // At most 2 * (2 + 33) bytes, which fits the short form of the length.
        return [sequenceTag, UInt8(integers.count)] + integers
    }

    /// Converts DER to r || s.
    ///
    /// - Returns: `nil` if `der` is not a sequence of two integers of at most 32 bytes each.
    static func raw(fromDER der: [UInt8]) -> [UInt8]? {
        guard der.count >= 2, der[0] == sequenceTag, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der[2...]
        guard let r = scalar(&rest), let s = scalar(&rest), rest.isEmpty else { return nil }
        return r + s
    }

    /// Returns the DER integer of an unsigned number: without leading zeros, except one if the highest bit is set,
    /// which would otherwise be the sign.
    private static func integer(_ number: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(number.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [integerTag, UInt8(digits.count)] + digits
    }

    /// Reads an integer from the front of `rest` as an unsigned number of 32 bytes.
    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == integerTag, let count = rest.popFirst(), Int(count) <= rest.count else { return nil }
        let digits = rest.prefix(Int(count)).drop { $0 == 0 }
        rest = rest.dropFirst(Int(count))
        guard digits.count <= scalarSize else { return nil }
        return [UInt8](repeating: 0, count: scalarSize - digits.count) + digits
    }
}
