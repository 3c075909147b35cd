import Logging
import Wire

extension [UInt8] {
    /// Appends a message as a readable line:
    /// `2026-11-21T01:02:03.004Z info     message key=value other="two words"`.
    ///
    /// Nested metadata gets keys with dots. Control characters and line breaks are escaped, so no value can fake
    /// another line or move the cursor.
    mutating func append(
        textLine message: String, _ level: Logger.Level, _ metadata: Logger.Metadata, at time: Timestamp
    ) {
        time.append(to: &self)
        append(UInt8(ascii: " "))
        append(utf8: level.rawValue)
        // Aligns the messages; "critical" is the longest level.
        append(contentsOf: repeatElement(UInt8(ascii: " "), count: Swift.max(9 - level.rawValue.utf8.count, 1)))
        append(visible: message)
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) { append(key: key, value) }
        append(UInt8(ascii: "\n"))
    }

    /// Appends ` key=value`, once for each value if there are several.
    private mutating func append(key: String, _ value: Logger.MetadataValue) {
        if LogRedaction.isSecret(key: key) {
            append(key: key, text: LogRedaction.placeholder)
            return
        }
        switch value {
        case .string, .stringConvertible: append(key: key, text: redactingTokens(in: value.description))
        case .dictionary(let object):
            for (name, value) in object.sorted(by: { $0.key < $1.key }) { append(key: key + "." + name, value) }
        case .array(let elements):
            for (index, element) in elements.enumerated() { append(key: key + "." + String(index), element) }
        }
    }

    private mutating func append(key: String, text: String) {
        append(UInt8(ascii: " "))
        append(visible: key)
        append(UInt8(ascii: "="))
        let needsQuotes =
            text.isEmpty || text.unicodeScalars.contains { $0 <= " " || "\"=\\".unicodeScalars.contains($0) }
        if needsQuotes { append(UInt8(ascii: "\"")) }
        append(visible: text, quoted: needsQuotes)
        if needsQuotes { append(UInt8(ascii: "\"")) }
    }

    /// Appends text, with control characters and line breaks escaped in Swift's notation.
    private mutating func append(visible text: String, quoted: Bool = false) {
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: append(utf8: scalar.escaped(asASCII: true))
            default:
                if quoted, scalar == "\"" || scalar == "\\" { append(UInt8(ascii: "\\")) }
                append(contentsOf: UTF8.encode(scalar)!)
            }
        }
    }
}

extension [UInt8] {
    /// Appends a message as a JSON object on a line of its own:
    /// `{"time":"2026-11-21T01:02:03.004Z","level":"info","logger":"backscroll","message":"…","metadata":{"room":"x"}}`.
    ///
    /// Numbers and booleans that the caller passed as such stay JSON numbers and booleans. Other values in `metadata`
    /// become strings, or objects and arrays of strings. `metadata` is left out if empty.
    mutating func append(
        jsonLine message: String, _ level: Logger.Level, _ metadata: Logger.Metadata, at time: Timestamp, logger: String
    ) {
        append(literal: "{\"time\":\"")
        time.append(to: &self)
        append(UInt8(ascii: "\""))
        append(member: "level", level.rawValue)
        append(member: "logger", logger)
        append(member: "message", message)
        if !metadata.isEmpty {
            append(memberName: "metadata")
            append(object: metadata)
        }
        append(literal: "}\n")
    }

    /// Appends metadata as a JSON object, sorted by name.
    private mutating func append(object: Logger.Metadata) {
        append(UInt8(ascii: "{"))
        var first = true
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            if !first { append(UInt8(ascii: ",")) }
            first = false
            append(quoted: key)
            append(UInt8(ascii: ":"))
            append(json: LogRedaction.isSecret(key: key) ? .string(LogRedaction.placeholder) : value)
        }
        append(UInt8(ascii: "}"))
    }

    private mutating func append(json value: Logger.MetadataValue) {
        switch value {
        case .stringConvertible(let value) where Self.isLiteral(value): append(utf8: value.description)
        case .string, .stringConvertible: append(quoted: redactingTokens(in: value.description))
        case .dictionary(let object): append(object: object)
        case .array(let elements): append(array: elements) { $1.append(json: $0) }
        }
    }

    /// True for values that JSON can represent directly: integers, finite numbers and booleans. Swift's descriptions of
    /// these are valid JSON.
    private static func isLiteral(_ value: any CustomStringConvertible) -> Bool {
        switch value {
        case is any FixedWidthInteger, is Bool: true
        case let number as Double: number.isFinite
        case let number as Float: number.isFinite
        default: false
        }
    }
}

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
    target.withUTF8Span { redactingTokens(in: $0) } ?? target
}

/// Returns the text without the values of tokens; `nil` if there are none.
private func redactingTokens(in bytes: Span<UInt8>) -> String? {
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
    guard !result.isEmpty else { return nil }
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
