#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The URLs of attachments, which browsers and apps open: `http` or `https` URLs (RFC 9110, section 4.2).
///
/// The check covers what makes a client refuse a URL (WHATWG URL, section 4.4): the scheme, the host and the port. After
/// these, only characters are refused that would end the URL in a text or a header, or that are invisible or change the
/// direction of text, so that the URL shown would seem to be another (U+202E).
enum WebURL {
    /// Returns true if a string is such a URL.
    static func isValid(_ string: String) -> Bool {
        guard string.unicodeScalars.allSatisfy({ $0.isASCII || !isHidden($0) }) else { return false }
        let bytes = Array(string.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        guard scheme == "http" || scheme == "https" else { return false }
        let rest = bytes[(colon + 1)...]
        guard rest.starts(with: "//".utf8), rest.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return false }
        return isAuthority(rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) })
    }

    /// Returns true for such a URL with the scheme `https`.
    static func isSecure(_ string: String) -> Bool {
        string.prefix(6).lowercased() == "https:" && isValid(string)
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        // Names in some scripts need joiners.
        if scalar == "\u{200C}" || scalar == "\u{200D}" { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator: return true
        default: return false
        }
    }

    /// Returns true for `[ userinfo "@" ] host [ ":" port ]`.
    private static func isAuthority(_ authority: ArraySlice<UInt8>) -> Bool {
        // Browsers take a backslash for a slash, other clients do not. They would open different hosts.
        guard !authority.contains(UInt8(ascii: "\\")) else { return false }
        var host = authority
        if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host[(at + 1)...] }
        guard host.first == UInt8(ascii: "[") else {
            let colon = host.firstIndex(of: UInt8(ascii: ":")) ?? host.endIndex
            return isName(host[..<colon]) && isPort(host[colon...])
        }
        guard let end = host.firstIndex(of: UInt8(ascii: "]")) else { return false }
        return isAddressV6(host[(host.startIndex + 1)..<end]) && isPort(host[(end + 1)...])
    }

    /// Returns true for an empty string, or a colon and at most 65,535.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        guard let colon = text.first else { return true }
        let digits = text.dropFirst()
        guard colon == UInt8(ascii: ":"), digits.allSatisfy(isDigit) else { return false }
        let significant = digits.drop { $0 == UInt8(ascii: "0") }
        return significant.count <= 5 && (Int(String(decoding: significant, as: UTF8.self)) ?? 0) <= 65_535
    }

    private static func isAddressV6(_ text: ArraySlice<UInt8>) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, String(decoding: text, as: UTF8.self), &address) == 1
    }

    /// Returns true for a name or an IPv4 address.
    private static func isName(_ encoded: ArraySlice<UInt8>) -> Bool {
        guard let bytes = percentDecoded(encoded), !bytes.isEmpty else { return false }
        // Invalid UTF-8 becomes U+FFFD, which no name contains.
        let name = String(decoding: bytes, as: UTF8.self)
        guard name.unicodeScalars.allSatisfy(isOfName) else { return false }
        // A host that ends in a number is an address, which must be valid.
        var labels = name.split(separator: ".", omittingEmptySubsequences: false)
        if labels.count > 1, labels.last == "" { labels.removeLast() }
        guard let last = labels.last, !last.isEmpty, number(last) != nil || last.utf8.allSatisfy(isDigit) else {
            return true
        }
        guard labels.count <= 4 else { return false }
        let numbers = labels.map { number($0) }
        guard let tail = numbers[labels.count - 1], tail < UInt64(1) << (8 * UInt64(5 - labels.count)) else {
            return false
        }
        return numbers.dropLast().allSatisfy { $0.map { $0 <= 255 } ?? false }
    }

    /// Returns true for a character that a host name may contain. Which names of other scripts exist is left to the
    /// client.
    private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar.value > 0x20 && scalar.value < 0x7F && !"#/:<>?@[\\]^|%".unicodeScalars.contains(scalar)
        }
        switch scalar.properties.generalCategory {
        case .control, .surrogate, .unassigned, .privateUse, .spaceSeparator, .lineSeparator, .paragraphSeparator:
            return false
        case .format:
            // Joiners, which some scripts need.
            return scalar.value == 0x200C || scalar.value == 0x200D
        default:
            return scalar.value != 0xFFFD
        }
    }

    /// Returns the value of a part of an IPv4 address: decimal, octal after `0`, or hexadecimal after `0x`.
    private static func number(_ text: Substring) -> UInt64? {
        let digits = text.lowercased()
        if digits.hasPrefix("0x") { return digits.count == 2 ? 0 : parsed(digits.dropFirst(2), radix: 16) }
        return parsed(digits[...], radix: digits.count > 1 && digits.hasPrefix("0") ? 8 : 10)
    }

    private static func parsed(_ digits: Substring, radix: Int) -> UInt64? {
        // The initializer would accept a sign.
        guard digits.utf8.first != UInt8(ascii: "+"), digits.utf8.first != UInt8(ascii: "-") else { return nil }
        return UInt64(digits, radix: radix)
    }

    private static func percentDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            guard bytes[index] == UInt8(ascii: "%") else {
                decoded.append(bytes[index])
                index += 1
                continue
            }
            guard index + 2 < bytes.endIndex, let high = hexDigit(bytes[index + 1]),
                let low = hexDigit(bytes[index + 2])
            else { return nil }
            decoded.append(high << 4 | low)
            index += 3
        }
        return decoded
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
