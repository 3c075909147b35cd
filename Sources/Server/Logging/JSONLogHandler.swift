public import Logging
import Wire

/// Writes each message as a JSON object on a line of its own:
/// `{"time":"2026-11-21T01:02:03.004Z","level":"info","logger":"backscroll","message":"…","metadata":{"room":"x"}}`.
///
/// The time is RFC 3339 in UTC with milliseconds. All values in `metadata` are strings, or objects and arrays of
/// strings; it is left out when there is none. Values whose keys look like those of credentials are `[redacted]`, and
/// so are those of `access_token` parameters wherever they stand.
public struct JSONLogHandler: LogHandler {
    /// The lowest level that is written.
    public var logLevel: Logger.Level
    /// What goes with every message.
    public var metadata: Logger.Metadata = [:]
    /// Gives more to go with a message, from where it comes from.
    public var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let output: LogOutput

    /// A handler for the logger named `label`.
    public init(
        label: String, level: Logger.Level, output: LogOutput, metadataProvider: Logger.MetadataProvider? = nil
    ) {
        self.label = label
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
        line.append(literal: "{\"time\":\"")
        time.append(to: &line)
        line.append(UInt8(ascii: "\""))
        line.append(member: "level", event.level.rawValue)
        line.append(member: "logger", label)
        line.append(member: "message", redactingTokens(in: event.message.description))
        let metadata = event.metadata(with: metadata, from: metadataProvider)
        if !metadata.isEmpty {
            line.append(memberName: "metadata")
            line.append(object: metadata)
        }
        line.append(literal: "}\n")
        return line
    }
}

extension [UInt8] {
    /// Appends metadata as a JSON object, its members in the order of their names.
    fileprivate mutating func append(object: Logger.Metadata) {
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
        case .string, .stringConvertible: append(quoted: redactingTokens(in: value.description))
        case .dictionary(let object): append(object: object)
        case .array(let elements):
            append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                append(json: element)
            }
            append(UInt8(ascii: "]"))
        }
    }
}
