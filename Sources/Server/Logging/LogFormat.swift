/// The format of log lines.
public enum LogFormat: String, CaseIterable, Sendable {
    /// For people: the time, the level, the message, and `key=value` pairs.
    case text
    /// For machines: a JSON object.
    case json
}
