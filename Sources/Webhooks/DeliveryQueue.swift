public import Wire

/// The rooms of one webhook that have something to deliver, and what becomes of them with each answer.
///
/// A plain value without input and output. A room is in it while the receiver lacks changes of it, so quiet rooms cost
/// nothing. At most one delivery of a room is in flight, so the receiver gets its changes in order.
public struct DeliveryQueue: Sendable {
    /// Maximum number of deliveries in flight.
    public static let maximumInFlight = 8
    /// Time without success after which the next success lets all waiting rooms be attempted at once: 30 seconds. The
    /// receiver was down, and each room may wait for an hour by then.
    public static let outage = Duration.seconds(30)
    /// Number of refusals of a body (400, 413, 422) in a row that stop its room.
    public static let maximumRefusals = 3
    /// Time without success after which the webhook is paused.
    public static let patience = Duration.seconds(5 * 86_400)

    /// The reason why nothing is delivered.
    public enum Pause: Sendable, Hashable {
        /// The receiver has answered 410.
        case gone
        /// No delivery has succeeded for ``DeliveryQueue/patience``.
        case failing
    }

    private struct Entry {
        var failures = 0
        var refusals = 0
        /// True if the room has changed while its delivery was in flight.
        var hasChanged = false
        var position: Position
    }

    private enum Position: Equatable {
        case ready
        case inFlight
        case waiting(until: ContinuousClock.Instant)
        case stopped
    }

    private var entries: [RoomID: Entry] = [:]
    /// Rooms whose position is `ready`, first come first served.
    private var ready: [RoomID] = []
    private var firstReady = 0
    private var inFlight = 0
    /// Time since which no delivery has succeeded; `nil` if the last one has.
    private var failingSince: ContinuousClock.Instant?
    /// A time before which no waiting room is due; `nil` if none waits.
    private var earliest: ContinuousClock.Instant?

    /// The reason why nothing is delivered; `nil` if the webhook is not paused.
    public private(set) var pause: Pause?

    /// Creates an empty queue.
    ///
    /// - Parameter failingSince: Time since which no delivery has succeeded; `nil` if the last one has.
    public init(failingSince: ContinuousClock.Instant? = nil) { self.failingSince = failingSince }

    /// Number of rooms of which the receiver lacks changes.
    public var roomsBehind: Int { entries.count }

    /// Returns true for a room of which the receiver lacks changes.
    public func contains(_ room: RoomID) -> Bool { entries[room] != nil }

    /// Returns true for a room that only an admin can let go on.
    public func isStopped(_ room: RoomID) -> Bool { entries[room]?.position == .stopped }

    /// Time of the next attempt that is waited for; `nil` if there is none.
    public var nextAttempt: ContinuousClock.Instant? {
        if pause != nil || earliest == nil { return nil }
        return entries.values.compactMap { entry in
            if case .waiting(let until) = entry.position { until } else { nil }
        }.min()
    }

    /// Adds a room that has changed.
    public mutating func changed(_ room: RoomID) {
        if entries[room] == nil {
            entries[room] = Entry(position: .ready)
            ready.append(room)
        } else if entries[room]!.position == .inFlight {
            entries[room]!.hasChanged = true
        }
    }

    /// Returns the rooms to deliver now, each of which then awaits ``answered(_:_:hasMore:at:share:)``.
    public mutating func next(at now: ContinuousClock.Instant) -> [RoomID] {
        guard pause == nil else { return [] }
        if let earliest, earliest <= now { takeDue(at: now) }
        var taken: [RoomID] = []
        while inFlight < Self.maximumInFlight, firstReady < ready.count {
            let room = ready[firstReady]
            firstReady += 1
            entries[room]!.position = .inFlight
            entries[room]!.hasChanged = false
            inFlight += 1
            taken.append(room)
        }
        if firstReady == ready.count {
            ready.removeAll(keepingCapacity: true)
            firstReady = 0
        } else if firstReady > ready.count / 2 {
            ready.removeFirst(firstReady)
            firstReady = 0
        }
        return taken
    }

    /// Makes the waiting rooms ready that are due, those that have waited longest first.
    private mutating func takeDue(at now: ContinuousClock.Instant?) {
        var due: [(room: RoomID, until: ContinuousClock.Instant)] = []
        var next: ContinuousClock.Instant?
        for (room, entry) in entries {
            guard case .waiting(let until) = entry.position else { continue }
            if let now, until > now { next = min(next ?? until, until) } else { due.append((room, until)) }
        }
        for (room, _) in due.sorted(by: { $0.until < $1.until }) {
            entries[room]!.position = .ready
            ready.append(room)
        }
        earliest = next
    }

    /// Records the answer to a delivery.
    ///
    /// - Parameters:
    ///   - hasMore: True if the room had more changes than the delivery contained.
    ///   - share: A random number from 0 to 1, see ``RetryDelay``.
    /// - Returns: True if the receiver has the delivery, so that the room's cursor moves beyond it.
    public mutating func answered(
        _ room: RoomID, _ answer: DeliveryAnswer, hasMore: Bool, at now: ContinuousClock.Instant, share: Double
    ) -> Bool {
        guard var entry = entries[room], entry.position == .inFlight else { return false }
        inFlight -= 1
        let meaning = answer.meaning
        if meaning == .received {
            let wasDown = failingSince.map { now - $0 >= Self.outage } ?? false
            failingSince = nil
            finish(room, hasMore: hasMore || entry.hasChanged)
            if wasDown { takeDue(at: nil) }
            return true
        }
        entry.failures += 1
        entry.refusals = meaning == .refused ? entry.refusals + 1 : 0
        if entry.refusals >= Self.maximumRefusals {
            entry.position = .stopped
        } else {
            wait(
                RetryDelay.after(failures: entry.failures, retryAfter: answer.retryAfter, share: share), &entry, at: now
            )
        }
        entries[room] = entry
        let since = failingSince ?? now
        failingSince = since
        if meaning == .gone {
            pause = .gone
        } else if now - since >= Self.patience {
            pause = .failing
        }
        return false
    }

    /// Records that a room has nothing to deliver after all. This says nothing about the receiver.
    ///
    /// - Parameter hasMore: True if there may be something to deliver further on.
    public mutating func hadNothing(_ room: RoomID, hasMore: Bool = false) {
        guard let entry = entries[room], entry.position == .inFlight else { return }
        inFlight -= 1
        finish(room, hasMore: hasMore || entry.hasChanged)
    }

    /// Records that a room could not be read, so that it is tried again later. This says nothing about the receiver either.
    ///
    /// - Parameter share: A random number from 0 to 1, see ``RetryDelay``.
    public mutating func wasUnreadable(_ room: RoomID, at now: ContinuousClock.Instant, share: Double) {
        guard var entry = entries[room], entry.position == .inFlight else { return }
        inFlight -= 1
        entry.failures += 1
        wait(RetryDelay.after(failures: entry.failures, share: share), &entry, at: now)
        entries[room] = entry
    }

    /// Records that the receiver has taken a delivery of another queue of the webhook.
    public mutating func receiverWorks() { failingSince = nil }

    private mutating func finish(_ room: RoomID, hasMore: Bool) {
        guard hasMore else { return entries[room] = nil }
        entries[room] = Entry(position: .ready)
        // Behind all others, so that a busy room does not hold them.
        ready.append(room)
    }

    private mutating func wait(_ delay: Duration, _ entry: inout Entry, at now: ContinuousClock.Instant) {
        entry.position = .waiting(until: now + delay)
        earliest = min(earliest ?? now + delay, now + delay)
    }

    /// Forgets a room that has no delivery in flight.
    public mutating func remove(_ room: RoomID) {
        guard let entry = entries[room], entry.position != .inFlight else { return }
        entries[room] = nil
        guard entry.position == .ready else { return }
        // Those before the first one have been taken.
        ready.removeSubrange(..<firstReady)
        firstReady = 0
        ready.removeAll { $0 == room }
    }
}
