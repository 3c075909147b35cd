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
