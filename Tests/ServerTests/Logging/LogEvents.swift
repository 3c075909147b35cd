import Logging

extension LogEvent {
    /// A message from nowhere in particular.
    init(
        _ message: Logger.Message, level: Logger.Level = .info, error: (any Error)? = nil,
        metadata: Logger.Metadata? = nil
    ) {
        self.init(
            level: level, message: message, error: error, metadata: metadata, source: nil, file: "", function: "",
            line: 0)
    }
}

/// An error with a text of its own.
struct DiskFull: Error, CustomStringConvertible {
    let description = "disk \"full\""
}
