import Synchronization

/// A count of the announcements to all loops that access has ended.
///
/// A loop sends messages to subscribers only while it has handled every announcement. A valid ``AccessTerm`` is not enough.
/// After a node was stopped, a commit and then the announcement of a removal may wait for a loop, which handles them in this
/// order. The term is valid again once the node has read of the removal, so it is valid when the loop comes to the commit,
/// although the removed member's subscription has not ended yet.
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
