/// What a server said to a publisher's request, whatever the protocol.
struct Answer: Equatable, Sendable {
    /// What it amounts to.
    enum Outcome: Equatable, Sendable {
        /// The server has taken the request; `isRepeat` if it says that it had done so before.
        case accepted(isRepeat: Bool)
        /// The server has not taken it; `mayPass` if it may when asked again.
        case refused(reason: String, mayPass: Bool)
        /// The server may have taken it or not; nobody can tell.
        case unknown(reason: String)
    }

    let outcome: Outcome
    /// How much content came with it, in bytes.
    var contentBytes = 0
    /// True if the connection can be used for no further request.
    var endsConnection = false
}

/// Recognises the answers in what a publisher's connection receives.
protocol AnswerReader {
    /// Adds bytes that have arrived.
    mutating func append(_ bytes: Span<UInt8>)

    /// The next answer; nil when it has not come, or not whole.
    mutating func next() -> Answer?

    /// The connection has ended.
    ///
    /// - Returns: what is known of the last request by that; nil if nothing is.
    mutating func finish() -> Answer?
}

extension Plan.Publishing.Answers {
    /// A reader for a new connection.
    var reader: any AnswerReader {
        switch self {
        case .responses: ResponseReader()
        case .text(let text): TextAnswerReader(text)
        }
    }
}
