public import Glibc

/// An IPv4 or IPv6 address without a port. An IPv4 address within IPv6 (`::ffff:192.0.2.1`) is the IPv4 address.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The 128 bits of an IPv6 address; an IPv4 address is mapped into it (RFC 4291, section 2.5.5.2).
    let bits: UInt128

    /// Maximum length of the text of an address in bytes: an IPv6 address that ends in an IPv4 address.
    private static let textBytes = 45

    /// Parses an address in its usual notation, without brackets, zone or port; returns `nil` if it is invalid.
    public init?(_ text: some StringProtocol) {
        guard 2...Self.textBytes ~= text.utf8.count, !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        let text = String(text)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(v4: bytes[..<4])
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(v6: bytes)
        } else {
            return nil
        }
    }

    /// Reads the address of a socket's address; returns `nil` for a family other than IPv4 and IPv6.
    ///
    /// - Parameter address: As long as its family requires.
    public init?(_ address: UnsafePointer<sockaddr>) {
        // The offsets of RFC 3493, sections 3.2 and 3.3, and POSIX: the address follows family, port and flow label.
        let bytes = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: self.init(v4: UnsafeRawBufferPointer(start: bytes + 4, count: 4))
        case AF_INET6: self.init(v6: UnsafeRawBufferPointer(start: bytes + 8, count: 16))
        default: return nil
        }
    }

    /// Creates an IPv4 address from four bytes in network order.
    init(v4 bytes: some Collection<UInt8>) {
        bits = 0xFFFF << 32 | UInt128(Self.number(bytes))
    }

    /// Creates an IPv6 address from sixteen bytes in network order.
    init(v6 bytes: some Collection<UInt8>) {
        bits = UInt128(Self.number(bytes.prefix(8))) << 64 | UInt128(Self.number(bytes.dropFirst(8)))
    }

    private static func number(_ bytes: some Collection<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// True for an IPv4 address.
    public var isIPv4: Bool { bits >> 32 == 0xFFFF }

    /// The first 64 bits of an IPv6 address, which identify a network; all 32 bits of an IPv4 address.
    public var network: UInt64 { isIPv4 ? UInt64(truncatingIfNeeded: bits & 0xFFFF_FFFF) : UInt64(bits >> 64) }

    /// The address in its usual notation (RFC 5952).
    public var description: String {
        let number = isIPv4 ? (bits << 96).bigEndian : bits.bigEndian
        return withUnsafeBytes(of: number) { Self.text($0.baseAddress!, family: isIPv4 ? AF_INET : AF_INET6) }
    }

    /// Returns the usual notation of an address in network order: 4 bytes of the family AF_INET, 16 of AF_INET6. It is
    /// empty for other families.
    static func text(_ bytes: UnsafeRawPointer, family: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            // inet_ntop reads only the bytes of the family, and fails for an unknown one. It terminates the text with a
            // NUL, and the buffer is large enough for any address.
            guard inet_ntop(family, bytes, buffer.baseAddress!, socklen_t(buffer.count)) != nil else { return "" }
            return String(cString: buffer.baseAddress!)
        }
    }
}

/// A range of IP addresses in CIDR notation (RFC 4632, section 3.1; RFC 4291, section 2.3): `10.0.0.0/8`, `fd00::/8`.
public struct IPRange: Hashable, Sendable, CustomStringConvertible {
    private let first: IPAddress
    private let mask: UInt128
    /// The number of bits that all its addresses share: 0 to 32 for IPv4, 0 to 128 for IPv6.
    public let prefix: Int

    /// Parses a range or a single address. Returns `nil` if it is neither, or if bits beyond the prefix are set:
    /// `10.1.2.3/8` could as well mean one address.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = IPAddress(parts[0]) else { return nil }
        // The prefix of an IPv4 address counts from the start of its 32 bits.
        let offset = parts[0].utf8.contains(UInt8(ascii: ":")) ? 0 : 96
        var prefix = 128
        if parts.count == 2 {
            let digits = parts[1].utf8
            guard 1...3 ~= digits.count, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let number = Int(parts[1]), number <= 128 - offset
            else { return nil }
            prefix = offset + number
        }
        mask = prefix == 0 ? 0 : UInt128.max << UInt128(128 - prefix)
        guard first.bits & ~mask == 0 else { return nil }
        self.first = first
        self.prefix = first.isIPv4 ? prefix - 96 : prefix
    }

    /// True for a range of IPv4 addresses.
    public var isIPv4: Bool { first.isIPv4 }

    /// The range in CIDR notation.
    public var description: String { "\(first)/\(prefix)" }

    /// Returns true for an address in the range. An IPv4 address is only in IPv4 ranges.
    public func contains(_ address: IPAddress) -> Bool {
        address.isIPv4 == first.isIPv4 && address.bits & mask == first.bits
    }
}

extension [IPRange] {
    /// Returns true for an address in one of the ranges.
    public func contains(_ address: IPAddress) -> Bool {
        contains { $0.contains(address) }
    }
}
