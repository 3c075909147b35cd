/// A server's answer to a publisher's request, in any protocol.
struct Answer: Equatable, Sendable {
    /// The meaning of an answer.
    enum Outcome: Equatable, Sendable {
        /// The server accepted the request. `isRepeat` is true if it says that it had already accepted it.
        case accepted(isRepeat: Bool)
        /// The server did not accept the request. `mayPass` is true if a retry may succeed.
        case refused(reason: String, mayPass: Bool)
        /// It is unknown whether the server accepted the request.
        case unknown(reason: String)
    }

    let outcome: Outcome
    /// Number of bytes of its content.
    var contentBytes = 0
    /// True if the connection cannot be used for another request.
    var endsConnection = false
}

/// A parser of the answers on a publisher's connection.
protocol AnswerReader {
    /// Adds bytes that have arrived.
    mutating func append(_ bytes: Span<UInt8>)

    /// Returns the next answer; nil if none has arrived completely.
    mutating func next() -> Answer?

    /// Handles the end of the connection.
    ///
    /// - Returns: the answer to the last request, if the end completes one; nil otherwise.
    mutating func finish() -> Answer?
}

extension Plan.Publishing.Answers {
    /// Creates a reader for a new connection.
    var reader: any AnswerReader {
        switch self {
        case .responses: ResponseReader()
        case .text(let text): TextAnswerReader(text)
        }
    }
}
