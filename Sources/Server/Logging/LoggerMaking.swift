public import Logging

/// A logger that writes lines of this format, whatever the process has been set up with.
///
/// - Parameters:
///   - label: The name of the logger, which only ``LogFormat/json`` has.
///   - format: How the lines look.
///   - level: The lowest level that is written.
///   - output: Where the lines go.
public func makeLogger(
    label: String, format: LogFormat, level: Logger.Level, output: LogOutput = .standardError
) -> Logger {
    Logger(label: label) { label, provider in
        LineLogHandler(label: label, format: format, level: level, output: output, metadataProvider: provider)
    }
}

/// Sets up the process so that every `Logger(label:)` made from now on writes lines of this format.
///
/// Once in a process: swift-log traps if it was set up before.
///
/// - Parameters:
///   - format: How the lines look.
///   - level: The lowest level that is written, unless a logger is given another.
///   - output: Where the lines go.
public func bootstrapLogging(format: LogFormat, level: Logger.Level, output: LogOutput = .standardError) {
    LoggingSystem.bootstrap(
        { label, provider in
            LineLogHandler(label: label, format: format, level: level, output: output, metadataProvider: provider)
        }, metadataProvider: nil)
}
