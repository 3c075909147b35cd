import Chat
import Transport

/// The unit by which addresses are limited: an IPv4 address, or the first 64 bits of an IPv6 address, since every IPv6
/// subscriber has at least that many addresses to choose from (RFC 6177, section 2).
struct AddressBlock: Hashable, Sendable {
    private let bits: UInt64
    private let isIPv4: Bool

    /// Creates the block that contains an address.
    init(_ address: IPAddress) {
        bits = address.network
        isIPv4 = address.isIPv4
    }

    /// Parses an address in its usual notation; `nil` if it is not one.
    init?(_ text: String) {
        guard let address = IPAddress(text) else { return nil }
        self.init(address)
    }

    /// The asker for reads of the log without a name from this block.
    var asker: Asker { .address(bits) }
}
