/// How a line of the log looks.
public enum LogFormat: String, CaseIterable, Sendable {
    /// For people: ``TextLogHandler``.
    case text
    /// For machines: ``JSONLogHandler``.
    case json
}
