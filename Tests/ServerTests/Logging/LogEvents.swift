import Logging

extension LogEvent {
    /// Creates an event with a default source.
    init(
        _ message: Logger.Message, level: Logger.Level = .info, error: (any Error)? = nil,
        metadata: Logger.Metadata? = nil
    ) {
        self.init(
            level: level, message: message, error: error, metadata: metadata, source: nil, file: "", function: "",
            line: 0)
    }
}

/// An error with its own description.
struct DiskFull: Error, CustomStringConvertible {
    let description = "disk \"full\""
}
