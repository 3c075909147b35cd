import Wire

/// Reads answers in an unknown protocol, given only the text that acknowledges a request.
struct TextAnswerReader: AnswerReader {
    /// Number of bytes kept of other texts: the server's last text may explain why it ends the connection.
    static let keptBytes = 4096
    /// Maximum number of these bytes to show.
    static let shownBytes = 200

    private let text: [UInt8]
    /// The bytes received since the last answer.
    private(set) var received: [UInt8] = []

    /// Creates a reader that searches for `text`, which must not be empty.
    init(_ text: [UInt8]) {
        self.text = text
    }

    mutating func append(_ bytes: Span<UInt8>) {
        received.append(copying: bytes)
    }

    mutating func next() -> Answer? {
        if let end = received.span.end(ofFirst: text) {
            received.removeFirst(end)
            return Answer(outcome: .accepted(isRepeat: false))
        }
        let kept = max(Self.keptBytes, text.count)
        if received.count > kept { received.removeFirst(received.count - kept) }
        return nil
    }

    mutating func finish() -> Answer? {
        let lines = String(decoding: received, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard let last = lines.last else { return nil }
        let said = String(decoding: last.utf8.prefix(Self.shownBytes), as: UTF8.self)
        return Answer(outcome: .unknown(reason: "the connection ended before the answer, after '\(said)'"))
    }
}
