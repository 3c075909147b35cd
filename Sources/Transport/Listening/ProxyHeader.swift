/// Parses the header of the PROXY protocol, version 1 or 2, in which a TCP balancer sends the address of its client
/// (HAProxy's `proxy-protocol.txt`, sections 2.1 and 2.2).
///
/// A value without input or output. It consumes bytes until it has an ``outcome``, and none after the header, which
/// belong to TLS or HTTP.
struct ProxyHeader {
    /// The result of parsing the bytes read so far.
    enum Outcome: Equatable {
        case needMoreBytes
        /// The header is complete. The source is `nil` if the header names none: the balancer itself has connected
        /// (LOCAL), it does not know the client (UNKNOWN, UNSPEC), or the client has no IP address over TCP. Use the
        /// connection's own address then.
        case source(IPAddress?)
        /// The bytes are not a header, for this reason.
        case malformed(String)
    }

    /// Maximum length of a version 1 header in bytes, with its CRLF.
    static let longestLine = 107
    /// Maximum number of bytes after the fixed part of a version 2 header: addresses and additional values.
    static let longestPayload = 4096

    private static let lineStart = Array("PROXY ".utf8)
    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    private static let fixedPart = 16

    private var bytes: [UInt8] = []
    private(set) var outcome = Outcome.needMoreBytes

    /// Consumes the bytes at the front of `available` that belong to the header.
    ///
    /// - Returns: the number of consumed bytes. Once there is an outcome, the rest does not belong to the header.
    mutating func take(_ available: Span<UInt8>) -> Int {
        var count = 0
        while outcome == .needMoreBytes, count < available.count {
            bytes.append(available[count])
            count += 1
            outcome = bytes[0] == Self.lineStart[0] ? afterByteOfLine() : afterByteOfBinary()
        }
        return count
    }

    // MARK: Version 1

    private func afterByteOfLine() -> Outcome {
        let count = bytes.count
        if count <= Self.lineStart.count, bytes[count - 1] != Self.lineStart[count - 1] {
            return .malformed("it does not begin with PROXY")
        }
        if bytes[count - 1] == UInt8(ascii: "\n") { return Self.outcome(ofLine: bytes) }
        return count < Self.longestLine ? .needMoreBytes : .malformed("the line is longer than 107 bytes")
    }

    private static func outcome(ofLine bytes: [UInt8]) -> Outcome {
        guard bytes.dropLast().last == UInt8(ascii: "\r") else { return .malformed("the line does not end with CR LF") }
        guard let line = String(validating: bytes.dropLast(2), as: UTF8.self) else {
            return .malformed("the line is not text")
        }
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        switch words[1] {
        case "UNKNOWN":
            return .source(nil)
        case "TCP4", "TCP6":
            guard words.count == 6, isPort(words[4]), isPort(words[5]) else {
                return .malformed("the line does not have two addresses and two ports")
            }
            let isV6 = words[1] == "TCP6"
            guard let source = IPAddress(words[2]), IPAddress(words[3]) != nil,
                words[2...3].allSatisfy({ $0.contains(":") == isV6 })
            else { return .malformed("the line's addresses are none of \(words[1])") }
            return .source(source)
        default:
            return .malformed("the line names another protocol than TCP4, TCP6 or UNKNOWN")
        }
    }

    /// Returns true for a decimal number up to 65535 without leading zeros.
    private static func isPort(_ text: Substring) -> Bool {
        let digits = text.utf8
        guard 1...5 ~= digits.count, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            digits.count == 1 || digits.first != UInt8(ascii: "0")
        else { return false }
        return Int(text)! <= 65_535
    }

    // MARK: Version 2

    private var payloadLength: Int { Int(bytes[14]) << 8 | Int(bytes[15]) }

    private func afterByteOfBinary() -> Outcome {
        let count = bytes.count
        if count <= Self.signature.count {
            return bytes[count - 1] == Self.signature[count - 1]
                ? .needMoreBytes : .malformed("it does not begin with the signature of a version")
        }
        if count == Self.fixedPart - 3, bytes[12] >> 4 != 2 || bytes[12] & 0xF > 1 {
            return .malformed("the version or the command is unknown")
        }
        guard count >= Self.fixedPart else { return .needMoreBytes }
        guard payloadLength <= Self.longestPayload else { return .malformed("it is longer than 4,096 bytes") }
        return count < Self.fixedPart + payloadLength ? .needMoreBytes : outcomeOfBinary()
    }

    private func outcomeOfBinary() -> Outcome {
        let payload = bytes[Self.fixedPart...]
        let isLocal = bytes[12] & 0xF == 0
        // The high half is the family, the low half the transport (section 2.2).
        let addressBytes: Int
        switch bytes[13] {
        case 0x00: return .source(nil)
        case 0x11, 0x12: addressBytes = 12
        case 0x21, 0x22: addressBytes = 36
        case 0x31, 0x32: addressBytes = 216
        default: return isLocal ? .source(nil) : .malformed("the family or the transport is unknown")
        }
        // The addresses of a local connection must be ignored.
        if isLocal { return .source(nil) }
        guard payload.count >= addressBytes else { return .malformed("it is too short for its addresses") }
        guard Self.areValues(payload.dropFirst(addressBytes)) else {
            return .malformed("an additional value extends beyond the header")
        }
        switch bytes[13] {
        case 0x11: return .source(IPAddress(v4: payload.prefix(4)))
        case 0x21: return .source(IPAddress(v6: payload.prefix(16)))
        default: return .source(nil)
        }
    }

    /// Returns true if the bytes are additional values. Each has its type, its length in two bytes, and its content.
    /// None of them is used.
    private static func areValues(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            guard rest.count >= 3 else { return false }
            let start = rest.startIndex
            let length = Int(rest[start + 1]) << 8 | Int(rest[start + 2])
            guard rest.count >= 3 + length else { return false }
            rest = rest.dropFirst(3 + length)
        }
        return true
    }
}
