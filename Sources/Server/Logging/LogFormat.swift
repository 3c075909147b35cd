/// How a line of the log looks.
public enum LogFormat: String, CaseIterable, Sendable {
    /// For people: the time, the level, the message, and `key=value` pairs.
    case text
    /// For machines: a JSON object.
    case json
}
