import Chat
import Transport

/// Whom an address is taken for: an IPv4 address, or the first 64 bits of an IPv6 address, of which each subscriber of
/// a network has at least that many to choose from (RFC 6177, section 2).
struct AddressBlock: Hashable, Sendable {
    private let bits: UInt64
    private let isIPv4: Bool

    /// The block of an address.
    init(_ address: IPAddress) {
        bits = address.network
        isIPv4 = address.isIPv4
    }

    /// Reads an address in its usual notation; `nil` if it is none.
    init?(_ text: String) {
        guard let address = IPAddress(text) else { return nil }
        self.init(address)
    }

    /// The address as a party that reads the log without a name.
    var asker: Asker { .address(bits) }
}
