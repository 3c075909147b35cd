/// Percent-encoded octets (RFC 3986, section 2.1).
enum PercentDecoding {
    /// What the spaces of a query are written as: forms and most clients write `+` (WHATWG URL, section 5.1).
    enum Plus {
        case isPlus, isSpace
    }

    /// The text that `bytes` encode. An encoding that is cut off or not hexadecimal, the octet NUL, and octets that are
    /// not UTF-8 are refused.
    static func decode(_ bytes: Span<UInt8>, _ plus: Plus) throws(RequestRefusal) -> String {
        var isPlain = true
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == ASCII.percent || byte == ASCII.plus { isPlain = false }
        }
        if isPlain {
            guard let text = bytes.utf8String else { throw .targetEncodingInvalid }
            return text
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case ASCII.percent:
                guard index + 2 < bytes.count, let high = bytes[index + 1].hexDigitValue,
                    let low = bytes[index + 2].hexDigitValue, high << 4 | low != 0
                else { throw .targetEncodingInvalid }
                decoded.append(high << 4 | low)
                index += 3
            case ASCII.plus where plus == .isSpace:
                decoded.append(ASCII.space)
                index += 1
            default:
                decoded.append(bytes[index])
                index += 1
            }
        }
        guard let text = decoded.span.utf8String else { throw .targetEncodingInvalid }
        return text
    }
}
