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
