/// The user's sends that are not known to be stored, in the order in which they were sent.
struct Outbox<Draft: TimelineDraft, State: Sendable>: Sendable {
    struct Send: Sendable {
        let id: SendID
        let draft: Draft
        /// The time of the send, in milliseconds since 1970.
        let at: Int64
        var state: State
    }

    private(set) var sends: [Send] = []
    /// The ids of ``sends``. Most own messages that arrive are not in the outbox, and this avoids a search for each.
    private var ids: Set<SendID> = []

    var isEmpty: Bool { sends.isEmpty }

    func contains(_ id: SendID) -> Bool {
        ids.contains(id)
    }

    func state(of id: SendID) -> State? {
        index(of: id).map { sends[$0].state }
    }

    /// Adds a send at the end. Its id must not be in the outbox.
    mutating func append(_ send: Send) {
        sends.append(send)
        ids.insert(send.id)
    }

    @discardableResult
    mutating func remove(_ id: SendID) -> Send? {
        guard let index = index(of: id) else { return nil }
        ids.remove(id)
        return sends.remove(at: index)
    }

    mutating func setState(_ state: State, of id: SendID) {
        guard let index = index(of: id) else { return }
        sends[index].state = state
    }

    private func index(of id: SendID) -> Int? {
        ids.contains(id) ? sends.firstIndex { $0.id == id } : nil
    }
}
