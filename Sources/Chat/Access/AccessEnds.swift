import Synchronization

/// A count of the announcements to all loops that access has ended.
///
/// A loop sends messages to subscribers only once it has handled every announcement. ``AccessTerm`` alone is not enough: a
/// node that was stopped may have a commit waiting for a loop when it learns of a removal, and its term is extended before
/// the loop, which takes both in order, comes to the removal.
public final class AccessEnds: Sendable {
    private let count = Atomic<Int>(0)

    /// Creates a count without announcements.
    public init() {}

    /// Number of announcements so far.
    var announced: Int { count.load(ordering: .acquiring) }

    /// Counts an announcement. Call it before the loops are told, and each of them will handle it once, see
    /// ``FeedContext/handledEnd()``.
    public func announce() {
        count.wrappingAdd(1, ordering: .releasing)
    }
}
