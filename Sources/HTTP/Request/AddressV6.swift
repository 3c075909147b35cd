/// `IPv6address` of RFC 3986, section 3.2.2: the text in the brackets of an authority.
enum AddressV6 {
    /// Returns true if `text` is an address: eight groups, or fewer around one `::`. An IPv4 address may replace the
    /// last two groups.
    static func isValid(_ text: Span<UInt8>) -> Bool {
        var groups = 0
        var isCompressed = false
        var index = 0
        if text.count >= 2, text[0] == ASCII.colon, text[1] == ASCII.colon {
            isCompressed = true
            index = 2
        }
        while index < text.count {
            let start = index
            while index < text.count, text[index].hexDigitValue != nil { index += 1 }
            if index < text.count, text[index] == ASCII.dot {
                guard isAddressV4(text.extracting(start...)) else { return false }
                groups += 2
                break
            }
            guard (1...4).contains(index - start) else { return false }
            groups += 1
            if index == text.count { break }
            guard text[index] == ASCII.colon, index + 1 < text.count else { return false }
            index += 1
            if text[index] == ASCII.colon {
                guard !isCompressed else { return false }
                isCompressed = true
                index += 1
            }
        }
        return isCompressed ? groups <= 7 : groups == 8
    }

    /// Returns true if `text` is four decimal octets without leading zeros.
    static func isAddressV4(_ text: Span<UInt8>) -> Bool {
        var octets = 0
        var index = 0
        while index < text.count {
            let start = index
            var value = 0
            while index < text.count, index - start < 3, let digit = text[index].digitValue {
                value = value * 10 + digit
                index += 1
            }
            guard index > start, value <= 255, index - start == 1 || text[start] != ASCII.zero else { return false }
            octets += 1
            if index == text.count { break }
            guard octets < 4, text[index] == ASCII.dot, index + 1 < text.count else { return false }
            index += 1
        }
        return octets == 4
    }
}
