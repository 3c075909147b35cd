import Commands

/// Failures counted by their text. Only a few different texts are kept.
struct FailureLog: Sendable {
    /// Maximum number of different texts.
    static let keptTexts = 5

    /// The texts with their counts, in the order in which they first occurred.
    private(set) var entries: [(text: String, count: Int)] = []
    /// Number of failures with other texts.
    private(set) var others = 0

    /// Records a failure.
    mutating func note(_ text: String, count: Int = 1) {
        if let index = entries.firstIndex(where: { $0.text == text }) {
            entries[index].count += count
        } else if entries.count < Self.keptTexts {
            entries.append((text, count))
        } else {
            others += count
        }
    }

    /// Adds the failures of another loop.
    mutating func add(_ log: FailureLog) {
        for (text, count) in log.entries { note(text, count: count) }
        others += log.others
    }

    /// True if there was no failure.
    var isEmpty: Bool { entries.isEmpty }

    /// The lines of the report, one per text.
    var lines: [String] {
        let lines = entries.map { $0.count == 1 ? $0.text : "\($0.text) (\(NumberFormat.whole($0.count)) times)" }
        return others == 0 ? lines : lines + ["and \(NumberFormat.whole(others)) others"]
    }
}
