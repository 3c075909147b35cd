import Synchronization
import Wire

/// Counters of a node on PostgreSQL since its start, for metrics.
public struct NodeCounts: Sendable, Hashable {
    /// The purpose of a connection.
    public enum Purpose: String, CaseIterable, Sendable {
        case writer, reader, caretaker, listener, notifier, exchange, webhooks
    }

    /// The connections of one purpose.
    public struct Connections: Sendable, Hashable {
        /// Connections that are open, as far as the node knows.
        public var open = 0
        /// Connections that were made. Later ones replace lost ones.
        public var made = 0
        /// Time for which statements were under way, summed over the connections.
        public var waited = Duration.zero

        /// Creates counts without connections.
        public init() {}
    }

    /// The connections of each purpose.
    public var connections: [Purpose: Connections] = [:]
    /// True while the node hears the hints of other nodes.
    public var isListening = false
    /// True while this node does the background work of all nodes.
    public var isCaretaker = false
    /// Notifications with hints that this node has sent.
    public var hintsSent = 0
    /// Notifications with hints of other nodes.
    public var hintsReceived = 0
    /// Statements that looked at rooms.
    public var lookups = 0
    /// Rooms that these statements have found changed.
    public var lookupRooms = 0
    /// Rooms that a sweep has found changed, because a hint was lost or has not arrived.
    public var sweptRooms = 0
    /// Commits that were rolled back and tried again because of other transactions.
    public var conflicts = 0

    /// Creates counts of a node that has done nothing.
    public init() {}
}

/// Counts the connections of a node to PostgreSQL, by their purpose.
public final class DatabaseConnections: Sendable {
    /// Counts the connections of one purpose.
    final class Counter: Sendable {
        private let open = Atomic(0)
        private let made = Atomic(0)
        private let nanoseconds = Atomic<Int64>(0)

        /// Counts a connection that was made.
        func opened() {
            made.add(1, ordering: .relaxed)
            open.add(1, ordering: .relaxed)
        }

        /// Counts a connection that was closed.
        func closed() {
            open.subtract(1, ordering: .relaxed)
        }

        /// Adds the time for which statements were under way.
        func waited(_ duration: Duration) {
            nanoseconds.wrappingAdd(duration.nanoseconds, ordering: .relaxed)
        }

        /// The counts so far.
        var counts: NodeCounts.Connections {
            var counts = NodeCounts.Connections()
            counts.open = open.load(ordering: .relaxed)
            counts.made = made.load(ordering: .relaxed)
            counts.waited = .nanoseconds(nanoseconds.load(ordering: .relaxed))
            return counts
        }
    }

    private let counters = NodeCounts.Purpose.allCases.map { _ in Counter() }

    /// Creates counts without connections.
    public init() {}

    /// The counter of a purpose.
    subscript(purpose: NodeCounts.Purpose) -> Counter {
        // As many counters as purposes, in the same order.
        counters[NodeCounts.Purpose.allCases.firstIndex(of: purpose)!]
    }

    /// The counts so far.
    var counts: [NodeCounts.Purpose: NodeCounts.Connections] {
        Dictionary(uniqueKeysWithValues: NodeCounts.Purpose.allCases.map { ($0, self[$0].counts) })
    }
}
