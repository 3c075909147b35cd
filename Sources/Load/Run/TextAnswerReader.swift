import Wire

/// The answers of a protocol of which no more is known than a text that acknowledges a request.
struct TextAnswerReader: AnswerReader {
    /// What is kept of other texts, in bytes: the last that a server says may be why it ends the connection.
    static let keptBytes = 4096
    /// How much of that is shown, in bytes.
    static let shownBytes = 200

    private let text: [UInt8]
    /// What has come since the last answer.
    private var received: [UInt8] = []

    /// The bytes that are kept.
    var heldBytes: Int { received.count }

    /// A reader that looks for `text`, which is not empty.
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
