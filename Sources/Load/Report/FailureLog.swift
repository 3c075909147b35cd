/// Failures by their text: how often each came, and no more than a few different ones.
struct FailureLog: Equatable, Sendable {
    /// The number of different texts that are kept.
    static let keptTexts = 5

    /// The texts in the order in which they first came, with how often they came.
    private(set) var entries: [(text: String, count: Int)] = []
    /// How often others came.
    private(set) var others = 0

    init() {}

    /// Notes a failure.
    mutating func note(_ text: String, count: Int = 1) {
        if let index = entries.firstIndex(where: { $0.text == text }) {
            entries[index].count += count
        } else if entries.count < Self.keptTexts {
            entries.append((text, count))
        } else {
            others += count
        }
    }

    /// Adds what another loop has noted.
    mutating func add(_ log: FailureLog) {
        for (text, count) in log.entries { note(text, count: count) }
        others += log.others
    }

    /// True if there was none.
    var isEmpty: Bool { entries.isEmpty }

    /// A line for each text.
    var lines: [String] {
        let lines = entries.map { $0.count == 1 ? $0.text : "\($0.text) (\(Figure.whole($0.count)) times)" }
        return others == 0 ? lines : lines + ["and \(Figure.whole(others)) others"]
    }

    static func == (a: FailureLog, b: FailureLog) -> Bool {
        a.others == b.others && a.lines == b.lines
    }
}
