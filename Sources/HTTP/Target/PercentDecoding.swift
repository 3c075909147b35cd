/// Percent-encoded octets (RFC 3986, section 2.1).
enum PercentDecoding {
    /// Returns the text that `bytes` encode. Refuses an encoding that is cut off or not hexadecimal, the octet NUL, and
    /// octets that are not UTF-8.
    ///
    /// - Parameters:
    ///   - isPlain: True if `bytes` are known to be ASCII without percent-encodings.
    ///   - isForm: True in queries, where a plus is a space, as forms and `URLSearchParams` write it (WHATWG URL, section
    ///     5.1).
    static func decode(_ bytes: Span<UInt8>, isPlain: Bool, isForm: Bool = false) throws(RequestRefusal) -> String {
        let plus = isForm ? bytes.firstIndex(of: ASCII.plus) : nil
        if isPlain, plus == nil { return bytes.asciiString }
        guard let first = [bytes.firstIndex(of: ASCII.percent), plus].compactMap(\.self).min() else {
            guard let text = bytes.utf8String else { throw .targetEncodingInvalid }
            return text
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        decoded.append(copying: bytes.extracting(first: first))
        var index = first
        while index < bytes.count {
            switch bytes[index] {
            case ASCII.percent:
                guard index + 2 < bytes.count, let high = bytes[index + 1].hexDigitValue,
                    let low = bytes[index + 2].hexDigitValue, high << 4 | low != 0
                else { throw .targetEncodingInvalid }
                decoded.append(high << 4 | low)
                index += 3
            case ASCII.plus where isForm:
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
