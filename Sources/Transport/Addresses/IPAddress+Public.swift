extension IPAddress {
    /// True for an address that belongs to the public internet.
    ///
    /// False for loopback, link-local, private, shared, multicast, documentation and other special addresses (IANA's
    /// registries of special-purpose addresses, RFC 6890), for addresses at which clouds serve metadata, and for IPv6
    /// forms that carry such an IPv4 address. Code that connects to URLs of others must judge the address that it
    /// connects to, not the one of an earlier lookup.
    public var isPublic: Bool {
        if isIPv4 { return !Self.specialIPv4.contains(self) }
        if let translated { return translated.isPublic }
        return Self.unicastIPv6.contains(self) && !Self.specialIPv6.contains(self)
    }

    /// The IPv4 address that a translator connects to for an address in `64:ff9b::/96` (RFC 6052, section 2.1).
    private var translated: IPAddress? {
        guard bits >> 32 == 0x64_FF9B << 64 else { return nil }
        return IPAddress(v4: (0..<4).map { UInt8(truncatingIfNeeded: bits >> UInt128(24 - 8 * $0)) })
    }

    private static func ranges(_ texts: String...) -> [IPRange] { texts.map { IPRange($0)! } }

    private static let specialIPv4 = ranges(
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        // Azure's metadata and agents, at an address that is otherwise public.
        "168.63.129.16")
    /// All that IANA has assigned for unicast so far. IPv4-compatible, unique local, link-local and multicast addresses
    /// are outside.
    private static let unicastIPv6 = ranges("2000::/3")
    // Teredo is within the first range. 6to4 carries an IPv4 address.
    private static let specialIPv6 = ranges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
}
