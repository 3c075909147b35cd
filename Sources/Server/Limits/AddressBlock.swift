import Glibc

/// Whom an address is taken for: an IPv4 address, or the first 64 bits of an IPv6 address, of which each subscriber of
/// a network has at least that many to choose from (RFC 6177, section 2).
struct AddressBlock: Hashable, Sendable {
    private let bits: UInt64
    private let isIPv4: Bool

    /// Reads an address in its usual notation; `nil` if it is none.
    init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            bits = Self.number(bytes[..<4])
            isIPv4 = true
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            // An IPv4 address as sockets for both kinds have it (RFC 4291, section 2.5.5.2).
            isIPv4 = bytes[..<12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
            bits = Self.number(isIPv4 ? bytes[12...] : bytes[..<8])
        } else {
            return nil
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
