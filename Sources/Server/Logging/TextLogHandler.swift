public import Logging
import Wire

/// Writes each message as a line for people: `2026-11-21T01:02:03.004Z info     message key=value other="two words"`.
///
/// The time is RFC 3339 in UTC with milliseconds. Nested metadata has dots in its keys. Control characters and line
/// breaks are shown as escapes, so no value can pretend to be another line or move the cursor. Values whose keys look
/// like those of credentials are `[redacted]`, and so are those of `access_token` parameters wherever they stand.
public struct TextLogHandler: LogHandler {
    /// The lowest level that is written.
    public var logLevel: Logger.Level
    /// What goes with every message.
    public var metadata: Logger.Metadata = [:]
    /// Gives more to go with a message, from where it comes from.
    public var metadataProvider: Logger.MetadataProvider?

    private let output: LogOutput

    /// A handler for any logger: the name of it is not written.
    public init(level: Logger.Level, output: LogOutput, metadataProvider: Logger.MetadataProvider? = nil) {
        logLevel = level
        self.output = output
        self.metadataProvider = metadataProvider
    }

    /// The value that goes with every message under this key.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes a message.
    public func log(event: LogEvent) {
        output.write(line: line(event, at: .now()))
    }

    /// The line of a message.
    func line(_ event: LogEvent, at time: Timestamp) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        time.append(to: &line)
        line.append(UInt8(ascii: " "))
        let level = event.level.rawValue
        line.append(utf8: level)
        // The messages stand one below the other: "critical" is the longest level.
        line.append(contentsOf: repeatElement(UInt8(ascii: " "), count: max(9 - level.utf8.count, 1)))
        line.append(visible: redactingTokens(in: event.message.description))
        for (key, value) in event.metadata(with: metadata, from: metadataProvider).sorted(by: { $0.key < $1.key }) {
            line.append(key: key, value)
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }
}

extension [UInt8] {
    /// Appends ` key=value`, for each value if there are several.
    fileprivate mutating func append(key: String, _ value: Logger.MetadataValue) {
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

    /// Appends text, with escapes in Swift's notation for control characters and line breaks.
    fileprivate mutating func append(visible text: String, quoted: Bool = false) {
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
