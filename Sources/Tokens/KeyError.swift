/// The reason why keys cannot be used. It contains no part of a key.
public struct KeyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The source of the key: a path, or the name of an environment variable.
    public let source: String
    /// A description of the problem and its solution, for the person who starts the server.
    public let reason: String

    /// The source and the reason.
    public var description: String { "\(source): \(reason)" }

    init(_ source: String, _ reason: String) {
        self.source = source
        self.reason = reason
    }
}
