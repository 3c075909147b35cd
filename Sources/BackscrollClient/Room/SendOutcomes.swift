/// The outcomes of a room's sends: those that calls wait for, and the latest of the others.
struct SendOutcomes: Sendable {
    typealias Outcome = Result<ChatMessage, BackscrollClientError>

    /// Number of sends whose outcome is kept without a call that waits for it.
    static let kept = 256

    /// The ids of the sends that are neither stored nor refused.
    private(set) var open: Set<String> = []
    /// The ids of the latest sends that are stored or refused, oldest first.
    private var latest: [String] = []
    /// The outcomes of these sends, and of those that calls wait for.
    private var outcomes: [String: Outcome] = [:]
    /// Number of calls that wait for the outcome of each send.
    private var waits: [String: Int] = [:]
    /// The sends that the server has refused, each with the error's code. They are not posted until the user asks.
    var refusals: [String: String] = [:]

    /// The outcome of a send; nil if it has none yet, or none any more.
    subscript(id: String) -> Outcome? { outcomes[id] }

    /// Begins a send.
    mutating func begin(_ id: String) {
        open.insert(id)
    }

    /// Begins a refused send again.
    mutating func beginAgain(_ id: String) {
        open.insert(id)
        latest.removeAll { $0 == id }
        outcomes[id] = nil
        refusals[id] = nil
    }

    /// Ends a send; nothing happens if it has ended.
    mutating func end(_ id: String, _ outcome: Outcome) {
        guard open.remove(id) != nil else { return }
        outcomes[id] = outcome
        latest.append(id)
        guard latest.count > Self.kept else { return }
        let oldest = latest.removeFirst()
        if waits[oldest] == nil { outcomes[oldest] = nil }
    }

    /// Keeps the outcome of a send until ``release(_:)``, however many others come.
    mutating func keep(_ id: String) {
        waits[id, default: 0] += 1
    }

    /// Ends the wait of a call.
    mutating func release(_ id: String) {
        waits[id, default: 1] -= 1
        guard waits[id] == 0 else { return }
        waits[id] = nil
        if outcomes[id] != nil, !latest.contains(id) { outcomes[id] = nil }
    }
}
