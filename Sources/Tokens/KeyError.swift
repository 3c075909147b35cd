/// The reason why keys cannot be used. Nothing of a key is in it.
public struct KeyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Where the key comes from: a path, or the name of a variable.
    public let source: String
    /// What is wrong, and what can be done, for the person who starts the server.
    public let reason: String

    /// The source and the reason.
    public var description: String { "\(source): \(reason)" }

    init(_ source: String, _ reason: String) {
        self.source = source
        self.reason = reason
    }
}
