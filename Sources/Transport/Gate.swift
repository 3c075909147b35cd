import Synchronization

/// Counts the connections of all loops against their common bound.
final class Gate: Sendable {
    private let count = Atomic<Int>(0)
    private let refusedCount = Atomic<Int>(0)
    let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// How many are inside.
    var inside: Int { count.load(ordering: .relaxed) }

    /// Lets one more in, unless that would be more than the limit.
    func enter() -> Bool {
        if count.wrappingAdd(1, ordering: .relaxed).newValue <= limit { return true }
        leave()
        refuse()
        return false
    }

    /// How many have not been let in.
    var refused: Int { refusedCount.load(ordering: .relaxed) }

    /// Counts one that is not let in for another reason than the limit.
    func refuse() {
        refusedCount.wrappingAdd(1, ordering: .relaxed)
    }

    func leave() {
        count.wrappingSubtract(1, ordering: .relaxed)
    }
}
