public import Logging
import Wire

/// Writes each message as a line.
///
/// The time is RFC 3339 in UTC with milliseconds. Values whose keys look like those of credentials are `[redacted]`, and
/// so are those of `access_token` parameters wherever they stand.
public struct LineLogHandler: LogHandler {
    /// The lowest level that is written.
    public var logLevel: Logger.Level
    /// What goes with every message.
    public var metadata: Logger.Metadata = [:]
    /// Gives more to go with a message, from where it comes from.
    public var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let format: LogFormat
    private let output: LogOutput

    /// A handler for the logger named `label`, whose lines look like `format`.
    public init(
        label: String, format: LogFormat, level: Logger.Level, output: LogOutput,
        metadataProvider: Logger.MetadataProvider? = nil
    ) {
        self.label = label
        self.format = format
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
        let message = redactingTokens(in: event.message.description)
        let metadata = event.metadata(with: metadata, from: metadataProvider)
        switch format {
        case .text: line.append(textLine: message, event.level, metadata, at: time)
        case .json: line.append(jsonLine: message, event.level, metadata, at: time, logger: label)
        }
        return line
    }
}
