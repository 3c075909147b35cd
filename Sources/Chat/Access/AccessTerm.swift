import Synchronization
import Wire

/// The time until which a node knows enough about revoked access to send messages to subscribers.
///
/// With one server it has no end. With several, another node may have removed a member. Each time that a node has
/// learned of all revocations, its term is extended to a second after it asked. A node that was stopped, or that cannot
/// ask, finds the term over, and sends nothing until it has asked again. So a removed member receives nothing after
/// that second, on any node.
public final class AccessTerm: Sendable {
    /// A term without an end, for the only server of a database.
    public static let unlimited = AccessTerm(end: .max, clock: { .now })

    private static let origin = ContinuousClock.now
    /// The end in nanoseconds after ``origin``, which may itself be a little later than the first time that is asked for.
    private let end: Atomic<Int64>
    private let clock: @Sendable () -> ContinuousClock.Instant

    private init(end: Int64, clock: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.end = Atomic(end)
        self.clock = clock
    }

    /// Creates a term that is over.
    ///
    /// - Parameter clock: The present time. It must also count the time for which the process, or the machine, was stopped.
    public convenience init(clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.init(end: .min, clock: clock)
    }

    /// True until the term is over.
    public var isValid: Bool {
        let end = end.load(ordering: .acquiring)
        return end == .max || Self.nanoseconds(at: clock()) < end
    }

    /// Moves the end to a later time. An earlier one changes nothing.
    public func extend(to end: ContinuousClock.Instant) {
        self.end.max(Self.nanoseconds(at: end), ordering: .acquiringAndReleasing)
    }

    private static func nanoseconds(at instant: ContinuousClock.Instant) -> Int64 {
        (instant - origin).nanoseconds
    }
}
