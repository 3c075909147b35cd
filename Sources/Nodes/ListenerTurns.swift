/// The turns of a listener: what it reads from the database, and when.
///
/// In each turn it reads the events of access if they are due, hears the hints that have arrived, compares some rooms with
/// the database if a sweep is under way, and looks at rooms. It gives what it has heard and read to ``NodeFeeds``.
///
/// A plain value. It asks for one read at a time, and needs the answer, or ``failed(_:)``, before the next.
package struct ListenerTurns {
    /// Time between two comparisons of all rooms with subscribers: 1 second.
    package static let sweepInterval = Duration.seconds(1)
    /// Maximum time until the node reads an event of access whose hint was lost: 500 ms.
    package static let eventInterval = Duration.milliseconds(500)

    /// The bounds of one read.
    package struct Limits: Sendable {
        /// Maximum number of rooms that one statement looks at.
        package var looks: Int
        /// Maximum number of rooms that one statement compares.
        package var comparisons: Int

        /// Creates bounds.
        package init(looks: Int, comparisons: Int) {
            self.looks = looks
            self.comparisons = comparisons
        }
    }

    /// A point in the order of transactions: all transactions before it had ended.
    package struct Horizon: Sendable {
        /// The number of the oldest transaction that was running.
        package let transaction: Int64
        /// The number of pages of the table of rooms.
        package let pages: Int

        /// Creates a horizon.
        package init(transaction: Int64, pages: Int) {
            self.transaction = transaction
            self.pages = pages
        }
    }

    /// A read of the database.
    package enum Read: Sendable {
        /// The new events of access, which ``AccessState`` applies.
        case events
        /// The present horizon.
        case horizon
        /// The rooms whose revision is higher than these.
        case revisions(beyond: ArraySlice<FeedPositions.Look>)
        /// All rooms that have changed since a horizon.
        case changedRooms(since: Horizon)
        /// The changes of these rooms after their positions.
        case changes([FeedPositions.Look])
    }

    /// The next part of a turn.
    private enum Part {
        case events, hints, comparison, looks, none
    }

    private let limits: Limits
    private var nextSweep: ContinuousClock.Instant
    private var nextEvents: ContinuousClock.Instant
    /// The rooms that the sweep has not compared yet.
    private var unswept: ArraySlice<FeedPositions.Look> = []
    /// The start of the last sweep; `nil` before the first, or if there were no rooms.
    private var horizon: Horizon?
    /// The start of the sweep before, if all rooms that have changed since it are to be read.
    private var earlier: Horizon?

    private var part = Part.none
    private var now: ContinuousClock.Instant
    private var hints = Hints()
    /// The rooms that are being looked at.
    private var looks: [FeedPositions.Look] = []

    /// Creates the turns of a new connection. A sweep is due, because hints may have been lost before.
    package init(_ limits: Limits, at now: ContinuousClock.Instant) {
        self.limits = limits
        self.now = now
        (nextSweep, nextEvents) = (now, now)
    }

    /// Returns the time of the next turn if no hints arrive before; `nil` if there is more to do at once.
    package func deadline(_ feeds: NodeFeeds) -> ContinuousClock.Instant? {
        feeds.hasDue || !unswept.isEmpty ? nil : min(nextSweep, nextEvents)
    }

    /// Begins a turn.
    ///
    /// - Parameter hints: The hints that have arrived.
    package mutating func begin(hearing hints: Hints, at now: ContinuousClock.Instant) {
        self.hints = hints
        self.now = now
        part = .events
    }

    /// Returns the next read of this turn; `nil` at its end.
    package mutating func next(_ feeds: NodeFeeds) -> Read? {
        // Events come first, so that subscriptions end before anything is published that was committed after the event.
        if part == .events {
            part = .hints
            if hints.hasEvents || now >= nextEvents {
                nextEvents = now + Self.eventInterval
                return .events
            }
        }
        // Finds rooms whose hints were lost: begins a sweep if it is due, or compares some more rooms. Between the steps of a
        // sweep the listener serves hints.
        if part == .hints {
            part = .comparison
            feeds.hinted(hints)
            if now >= nextSweep, unswept.isEmpty {
                nextSweep = now + Self.sweepInterval
                unswept = feeds.sweep()[...]
                if !unswept.isEmpty { return .horizon }
                horizon = nil
            }
        }
        if part == .comparison {
            part = .looks
            if let earlier {
                self.earlier = nil
                return .changedRooms(since: earlier)
            }
            let some = unswept.prefix(limits.comparisons)
            unswept = unswept.dropFirst(some.count)
            if !some.isEmpty { return .revisions(beyond: some) }
        }
        // Rooms that are left, or need another look, follow in the next turn.
        if part == .looks {
            part = .none
            looks = feeds.takeLooks(limits.looks)
            if !looks.isEmpty { return .changes(looks) }
        }
        return nil
    }

    /// Records the answer to ``Read/horizon``. If there are more rooms to compare than the table has pages, the whole table is
    /// read.
    package mutating func found(_ horizon: Horizon) {
        if let last = self.horizon, unswept.count > horizon.pages {
            earlier = last
            unswept = []
        }
        self.horizon = horizon
    }

    /// Records the rooms that a comparison has found.
    package func found(_ rooms: Hints, _ feeds: NodeFeeds) {
        feeds.hinted(rooms)
    }

    /// Records the answers to looks.
    ///
    /// - Parameter answers: For each look its answer; `nil` if nothing has changed.
    package mutating func found(
        _ answers: [(look: FeedPositions.Look, answer: FeedPositions.Answer?)], _ feeds: NodeFeeds
    ) {
        looks = []
        feeds.looked(answers)
    }

    /// Ends the turns, because a read has failed. A new connection begins new turns.
    package mutating func failed(_ feeds: NodeFeeds) {
        feeds.failed(looks)
        looks = []
    }
}
