/// Percent-encoded octets (RFC 3986, section 2.1).
///
/// A plus stays a plus, in queries too: time offsets (`+02:00`) are typed into URLs. HTML forms write a space as a plus
/// (WHATWG URL, section 5.1), but no parameter of this API may hold a space.
enum PercentDecoding {
    /// Returns the text that `bytes` encode. Refuses an encoding that is cut off or not hexadecimal, the octet NUL, and
    /// octets that are not UTF-8.
    ///
    /// - Parameter isPlain: True if `bytes` are known to be ASCII without percent-encodings.
    static func decode(_ bytes: Span<UInt8>, isPlain: Bool) throws(RequestRefusal) -> String {
        if isPlain { return bytes.asciiString }
        guard let first = bytes.firstIndex(of: ASCII.percent) else {
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
            default:
                decoded.append(bytes[index])
                index += 1
            }
        }
        guard let text = decoded.span.utf8String else { throw .targetEncodingInvalid }
        return text
    }
}
