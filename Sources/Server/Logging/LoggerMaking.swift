public import Logging

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

/// Sets up the process so that every later `Logger(label:)` writes lines of this format.
///
/// Call it once: swift-log traps if the process was already set up.
///
/// - Parameters:
///   - format: The format of the lines.
///   - level: The lowest level that is written, unless a logger has its own.
///   - output: The destination of the lines.
public func bootstrapLogging(format: LogFormat, level: Logger.Level, output: LogOutput = .standardError) {
    LoggingSystem.bootstrap(
        { label, provider in
            LineLogHandler(label: label, format: format, level: level, output: output, metadataProvider: provider)
        }, metadataProvider: nil)
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
