import Glibc
public import Logging
import Synchronization
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

/// Returns a logger that writes lines of this format, independent of the process-wide logging system.
///
/// - Parameters:
///   - label: The name of the logger, shown only in ``LogFormat/json``.
///   - format: The format of the lines.
///   - level: The lowest level that is written.
///   - output: The destination of the lines.
public func makeLogger(
    label: String, format: LogFormat, level: Logger.Level, output: LogOutput = .standardError
) -> Logger {
    Logger(label: label) { label, provider in
        LineLogHandler(label: label, format: format, level: level, output: output, metadataProvider: provider)
    }
}

/// The format of log lines.
public enum LogFormat: String, CaseIterable, Sendable {
    /// For people: the time, the level, the message, and `key=value` pairs.
    case text
    /// For machines: a JSON object.
    case json
}

extension LogEvent {
    /// Returns all metadata of a message. For equal keys, the message's own value wins over the provider's, which wins
    /// over the logger's. An error becomes `error.message` and `error.type`, as in swift-log's own handlers.
    func metadata(with base: Logger.Metadata, from provider: Logger.MetadataProvider?) -> Logger.Metadata {
        var all = base
        if let provider { all.merge(provider.get()) { $1 } }
        if let metadata { all.merge(metadata) { $1 } }
        if let error {
            all["error.message"] = "\(error)"
            all["error.type"] = "\(String(reflecting: type(of: error)))"
        }
        return all
    }
}

/// The destination of log lines: a file descriptor, which is never closed.
///
/// Each line is one unbuffered `write(2)`, so nothing is lost when the process dies. Threads take turns, so lines never
/// mix.
public final class LogOutput: Sendable {
    /// The usual destination. It is separate from a command's results, and containers collect it as well.
    public static let standardError = LogOutput(descriptor: 2)

    /// The time that a line waits for space in a full non-blocking pipe, in milliseconds.
    static let patienceMilliseconds: Int32 = 100

    private let descriptor: Int32
    /// True if the previous line was written only in part. The lock serializes the threads.
    private let torn = Mutex(false)

    /// Creates an output. Each descriptor needs a single output, or else threads do not take turns.
    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Writes a line, which ends with a line feed. A line that cannot be written is lost, since a full disk must not
    /// stop the server.
    func write(line: [UInt8]) {
        torn.withLock { torn in
            let bytes = torn ? [UInt8(ascii: "\n")] + line : line
            let written = write(bytes)
            if written > 0 { torn = written < bytes.count }
        }
    }

    /// Writes as many of the bytes as possible and returns their number. Makes one system call if the system takes all
    /// at once.
    private func write(_ bytes: [UInt8]) -> Int {
        var done = 0
        while done < bytes.count {
            // The pointer is used only inside the closure, for the bytes that are left.
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
            if written >= 0 {
                done += written
            } else if errno == EAGAIN {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                if poll(&room, 1, Self.patienceMilliseconds) <= 0 { break }
            } else if errno != EINTR {
                break
            }
        }
        return done
    }
}
