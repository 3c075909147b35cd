/// `uri-host [ ":" port ]`: the value of Host, and the authority of a target (RFC 9110, section 7.2; RFC 3986, 3.2).
enum Authority {
    /// Maximum length of a host name in bytes, as in the DNS (RFC 1035, section 2.3.4).
    static let hostBytes = 255

    /// Returns true if `text` is an authority with a non-empty host and without user information.
    ///
    /// A host name consists of letters, digits, `-._~` and percent-encodings; ``ASCIISet/hostName`` documents the
    /// exclusions. An address in brackets must be IPv6, without a zone.
    ///
    /// - Parameter needsPort: True if the port must be given, as in the target of CONNECT.
    static func isValid(_ text: Span<UInt8>, needsPort: Bool = false) -> Bool {
        guard let hostEnd = endOfHost(in: text), hostEnd > 0, hostEnd <= hostBytes else { return false }
        if hostEnd == text.count { return !needsPort }
        guard text[hostEnd] == ASCII.colon else { return false }
        let digits = text.extracting((hostEnd + 1)...)
        // The grammar of Host allows a colon without a port.
        return digits.isEmpty ? !needsPort : isPort(digits)
    }

    private static func endOfHost(in text: Span<UInt8>) -> Int? {
        guard !text.isEmpty else { return nil }
        if text[0] == ASCII.leftBracket { return endOfAddress(in: text) }
        let hostName = ASCIISet.hostName
        var index = 0
        while index < text.count, text[index] != ASCII.colon {
            if text[index] == ASCII.percent {
                guard index + 2 < text.count, text[index + 1].hexDigitValue != nil,
                    text[index + 2].hexDigitValue != nil
                else { return nil }
                index += 3
            } else {
                guard hostName.contains(text[index]) else { return nil }
                index += 1
            }
        }
        return index
    }

    private static func endOfAddress(in text: Span<UInt8>) -> Int? {
        guard let end = text.firstIndex(of: ASCII.rightBracket),
            AddressV6.isValid(text.extracting(1..<end))
        else { return nil }
        return end + 1
    }

    private static func isPort(_ digits: Span<UInt8>) -> Bool {
        var number = 0
        for index in digits.indices {
            guard let digit = digits[index].digitValue else { return false }
            number = number * 10 + digit
            guard number <= 65535 else { return false }
        }
        return true
    }
}
