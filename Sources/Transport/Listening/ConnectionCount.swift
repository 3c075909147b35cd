import Synchronization

/// Counts the connections of all loops towards their shared limit.
final class ConnectionCount: Sendable {
    private let count = Atomic<Int>(0)
    private let refusedCount = Atomic<Int>(0)
    let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// Number of admitted connections.
    var inside: Int { count.load(ordering: .relaxed) }

    /// Admits one more connection. Returns false if the limit is reached.
    func enter() -> Bool {
        if count.wrappingAdd(1, ordering: .relaxed).newValue <= limit { return true }
        leave()
        refuse()
        return false
    }

    var refused: Int { refusedCount.load(ordering: .relaxed) }

    /// Counts a connection that is refused for a reason other than the limit.
    func refuse() {
        refusedCount.wrappingAdd(1, ordering: .relaxed)
    }

    func leave() {
        count.wrappingSubtract(1, ordering: .relaxed)
    }
}
