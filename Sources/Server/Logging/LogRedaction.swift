import Wire

/// Keeps credentials out of the log. This is the last line of defence: callers should not log credentials at all.
enum LogRedaction {
    /// The text that replaces a secret.
    static let placeholder = "[redacted]"

    /// Words in the names of headers, parameters and settings that carry credentials: `Authorization`, `access_token`,
    /// `Cookie`, and `Sec-WebSocket-Protocol`, where browsers send their token.
    private static let secretWords = [
        "token", "authorization", "bearer", "cookie", "credential", "jwt", "password", "secret", "websocket-protocol",
    ]

    /// Returns true if the key contains a word for credentials, in any case and with hyphens or underscores. Its value
    /// is then not logged.
    static func isSecret(key: String) -> Bool {
        let key = key.lowercased().replacing("_", with: "-")
        return secretWords.contains { key.contains($0) }
    }
}

/// Removes the values of `access_token` parameters from a request target, or from any text that contains one.
///
/// A value ends at `&`, at white space, or at the end. The name is found in any case, and also if some of it or the `=`
/// is percent-encoded (RFC 3986, section 2.1), as in a target within a target.
public func redactingTokens(in target: String) -> String {
    let bytes = target.utf8.span
    var result: [UInt8] = []
    var start = 0
    var index = 0
    while index < bytes.count {
        guard let value = bytes.endOfTokenName(from: index) else {
            index += 1
            continue
        }
        result.append(copying: bytes.extracting(start..<value))
        result.append(utf8: LogRedaction.placeholder)
        index = value
        while index < bytes.count, bytes[index] > UInt8(ascii: " "), bytes[index] != UInt8(ascii: "&") { index += 1 }
        start = index
    }
    guard !result.isEmpty else { return target }
    result.append(copying: bytes.extracting(start...))
    return String(decoding: result, as: UTF8.self)
}

extension Span<UInt8> {
    /// Returns the index of the value if `access_token=` stands at `start`; `nil` otherwise.
    fileprivate func endOfTokenName(from start: Int) -> Int? {
        let name: StaticString = "access_token="
        return name.withUTF8Buffer { name in
            var index = start
            for expected in name {
                guard index < count else { return nil }
                var (byte, length) = (self[index], 1)
                if byte == UInt8(ascii: "%"), index + 2 < count,
                    let high = self[index + 1].hexadecimalDigit, let low = self[index + 2].hexadecimalDigit
                {
                    (byte, length) = (high << 4 | low, 3)
                }
                if UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte { byte |= 0x20 }
                guard byte == expected else { return nil }
                index += length
            }
            return index
        }
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit in either case.
    fileprivate var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
