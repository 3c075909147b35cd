/// Detects a dead peer: sends pings, and gives up the peer after too many unanswered ones (RFC 6455 §5.5.2).
///
/// With the default interval, a ping goes out every 30 s. A peer that has sent nothing since two pings is given up when
/// the third is due: 60 to 90 s after it fell silent. Intervals in which no ping can be sent are added to this time.
public struct Heartbeat: Equatable, Sendable {
    /// The action to take at a tick.
    public enum Action: Equatable, Sendable {
        /// Nothing.
        case none
        /// Send a ping.
        case sendPing
        /// The peer is dead: end the connection.
        case dead
    }

    /// Default time between pings.
    public static let defaultInterval = Duration.seconds(30)
    /// Number of pings that may stay unanswered. The connection is given up when the next one is due.
    public static let maxUnanswered: UInt8 = 2

    /// The time between pings.
    public let interval: Duration
    /// The time of the next ``tick(at:)`` that has something to do.
    public private(set) var nextTick: ContinuousClock.Instant
    /// Number of pings since the last received frame. One byte, because every subscriber has a heartbeat (scenario D of
    /// scripts/compare).
    public private(set) var unanswered: UInt8 = 0

    /// Creates a heartbeat whose first ping is due one interval after `start`.
    ///
    /// - Parameters:
    ///   - start: the current time.
    ///   - interval: the time between pings, more than zero.
    public init(start: ContinuousClock.Instant, interval: Duration = defaultInterval) {
        precondition(interval > .zero)
        self.interval = interval
        nextTick = start + interval
    }

    /// Records a received frame. Every frame counts, not only pongs: a pong may wait behind a large message.
    public mutating func received() {
        unanswered = 0
    }

    /// Handles the passing of time. Ticks before ``nextTick`` do nothing; a late one counts once.
    public mutating func tick(at now: ContinuousClock.Instant) -> Action {
        guard now >= nextTick else { return .none }
        guard unanswered < Self.maxUnanswered else { return .dead }
        unanswered += 1
        nextTick = now + interval
        return .sendPing
    }

    /// Handles the passing of time while no ping can be sent, because the peer has not yet read what was sent before. A
    /// due ping is postponed by an interval and does not count as unanswered.
    public mutating func skip(at now: ContinuousClock.Instant) {
        if now >= nextTick { nextTick = now + interval }
    }
}
