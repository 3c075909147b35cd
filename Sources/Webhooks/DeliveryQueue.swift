public import Wire

/// The rooms of one webhook that have something to deliver, and what becomes of them with each answer.
///
/// A plain value without input and output. A room is in it while the receiver lacks changes of it, so quiet rooms cost
/// nothing. At most one delivery of a room is in flight, so the receiver gets its changes in order.
public struct DeliveryQueue: Sendable {
    /// Maximum number of deliveries in flight.
    public static let maximumInFlight = 8
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

    /// The state that operators see.
    public enum State: Sendable, Hashable {
        case ok
        case retrying
        case paused
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

    /// The reason why nothing is delivered; `nil` if the webhook is not paused.
    public private(set) var pause: Pause?

    /// Creates an empty queue.
    public init() {}

    /// Number of rooms of which the receiver lacks changes.
    public var roomsBehind: Int { entries.count }

    /// The rooms that only an admin can let go on, in no order.
    public var stoppedRooms: [RoomID] { entries.filter { $0.value.position == .stopped }.map(\.key) }

    /// The state that operators see.
    public var state: State {
        if pause != nil { return .paused }
        return entries.values.contains { $0.failures > 0 } ? .retrying : .ok
    }

    /// Time of the next attempt that is waited for; `nil` if there is none.
    public var nextAttempt: ContinuousClock.Instant? {
        if pause != nil { return nil }
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
        var due: [(room: RoomID, until: ContinuousClock.Instant)] = []
        for (room, entry) in entries {
            if case .waiting(let until) = entry.position, until <= now { due.append((room, until)) }
        }
        for (room, _) in due.sorted(by: { $0.until < $1.until }) {
            entries[room]!.position = .ready
            ready.append(room)
        }
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
            failingSince = nil
            if hasMore || entry.hasChanged {
                entries[room] = Entry(position: .ready)
                // Behind all others, so that a busy room does not hold them.
                ready.append(room)
            } else {
                entries[room] = nil
            }
            return true
        }
        entry.failures += 1
        entry.refusals = meaning == .refused ? entry.refusals + 1 : 0
        if entry.refusals >= Self.maximumRefusals {
            entry.position = .stopped
        } else {
            let delay = RetryDelay.after(failures: entry.failures, retryAfter: answer.retryAfter, share: share)
            entry.position = .waiting(until: now + delay)
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

    /// Lets a room go on, after an admin has moved its cursor beyond a body that the receiver refuses.
    public mutating func resume(_ room: RoomID) {
        guard entries[room]?.position == .stopped else { return }
        entries[room] = Entry(position: .ready)
        ready.append(room)
    }

    /// Ends a pause. All rooms but stopped ones are attempted at once.
    public mutating func resume() {
        guard pause != nil else { return }
        (pause, failingSince) = (nil, nil)
        for (room, entry) in entries {
            guard case .waiting = entry.position else { continue }
            entries[room] = Entry(position: .ready)
            ready.append(room)
        }
    }
}
