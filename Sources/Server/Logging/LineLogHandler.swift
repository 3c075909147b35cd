public import Logging
import Wire

/// A log handler that writes each message as one line.
///
/// Times are RFC 3339 in UTC with milliseconds. Values whose keys look like credentials are written as `[redacted]`,
/// and so are the values of `access_token` parameters in any text.
public struct LineLogHandler: LogHandler {
    /// The lowest level that is written.
    public var logLevel: Logger.Level
    /// Metadata of every message.
    public var metadata: Logger.Metadata = [:]
    /// Provides further metadata for a message.
    public var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let format: LogFormat
    private let output: LogOutput

    /// Creates a handler for the logger named `label`.
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

    /// The metadata of every message under this key.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes a message.
    public func log(event: LogEvent) {
        output.write(line: line(event, at: .now()))
    }

    /// Returns the line of a message.
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
