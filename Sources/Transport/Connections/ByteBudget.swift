import Synchronization

/// A bound on the bytes that all connections of a process hold together for one purpose.
///
/// Reservations beyond the bound are refused, so memory use is bounded for any number of connections.
public final class ByteBudget: Sendable {
    /// Maximum number of bytes held at a time.
    public let limit: Int
    private let held = Atomic<Int>(0)

    /// Creates a budget of `limit` bytes.
    public init(limit: Int) {
        self.limit = limit
    }

    /// Number of bytes held now.
    public var used: Int { held.load(ordering: .relaxed) }

    /// Returns true if `count` more bytes fit now.
    public func hasRoom(for count: Int) -> Bool { used <= limit - count }

    /// Reserves `count` more bytes, or none if they do not fit.
    fileprivate func reserve(_ count: Int) -> Bool {
        var current = used
        while current <= limit - count {
            let (exchanged, original) = held.weakCompareExchange(
                expected: current, desired: current + count, ordering: .relaxed)
            if exchanged { return true }
            current = original
        }
        return false
    }

    fileprivate func release(_ count: Int) {
        held.wrappingSubtract(count, ordering: .relaxed)
    }

    /// The part of a budget that one owner holds. It is released when the share is destroyed.
    public struct Share: ~Copyable {
        private let budget: ByteBudget
        /// The bytes held by this share.
        public private(set) var count = 0

        /// Creates an empty share.
        public init(of budget: ByteBudget) {
            self.budget = budget
        }

        deinit {
            if count > 0 { budget.release(count) }
        }

        /// Changes the share to `count` bytes.
        ///
        /// - Returns: `false` if they do not fit; the share is then unchanged.
        public mutating func resize(to count: Int) -> Bool {
            let change = count - self.count
            if change < 0 { budget.release(-change) }
            if change > 0, !budget.reserve(change) { return false }
            self.count = count
            return true
        }

        /// Moves all bytes to a new share and leaves this one empty.
        public mutating func take() -> Share {
            var taken = Share(of: budget)
            taken.count = count
            count = 0
            return taken
        }
    }
}
