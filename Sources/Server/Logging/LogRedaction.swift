import Wire

/// Keeps credentials out of the log. This is the last line of defence: who logs should not hand them over at all.
enum LogRedaction {
    /// What stands where a secret would.
    static let placeholder = "[redacted]"

    /// Parts of the names of fields, parameters and settings that carry credentials: `Authorization`, `access_token`,
    /// `Cookie`, and `Sec-WebSocket-Protocol`, in which a browser has to send its token.
    private static let secretWords = [
        "token", "authorization", "bearer", "cookie", "credential", "jwt", "password", "secret", "websocket-protocol",
    ]

    /// Returns whether a value is left out, whatever it is, because its key has one of the words for credentials in it,
    /// in any case and with hyphens or underscores.
    static func isSecret(key: String) -> Bool {
        let key = key.lowercased().replacing("_", with: "-")
        return secretWords.contains { key.contains($0) }
    }
}

/// A request target, or any text that has one in it, without the values of its `access_token` parameters.
///
/// A value ends at `&`, at white space, and at the end. The name is found in any case, and also where characters of it
/// or the `=` are percent-encoded (RFC 3986, section 2.1), as in a target within a target.
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
    /// Where the value begins if `access_token=` stands at `start`.
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
    /// The value of a digit to the base of 16, in any case.
    fileprivate var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
