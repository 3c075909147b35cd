/// Finds out that a peer has gone without a word: pings it, and gives it up after too much silence (RFC 6455 §5.5.2).
///
/// With the defaults a ping goes out every 30 s, and a peer that has sent nothing since two of them is given up when
/// the third would be due: 60 to 90 s after it fell silent, and later by the time in which no ping can go out.
public struct Heartbeat: Equatable, Sendable {
    /// What to do at a tick.
    public enum Action: Equatable, Sendable {
        /// Nothing.
        case none
        /// Send a ping.
        case sendPing
        /// The peer is gone: end the connection.
        case dead
    }

    /// The time between pings, by default.
    public static let defaultInterval = Duration.seconds(30)
    /// The number of pings that may stay unanswered, by default.
    public static let defaultMaxUnanswered = 2

    /// The time between pings.
    public let interval: Duration
    /// The number of pings that may stay unanswered; the connection is given up when the next one is due.
    public let maxUnanswered: Int
    /// The time when ``tick(at:)`` has something to do next.
    public private(set) var nextTick: ContinuousClock.Instant
    /// The pings since the last sign of life.
    public private(set) var unanswered = 0

    /// A heartbeat whose first ping is due one interval after `start`.
    ///
    /// - Parameters:
    ///   - start: now.
    ///   - interval: the time between pings, more than zero.
    ///   - maxUnanswered: how many pings may stay unanswered, at least 1.
    public init(
        start: ContinuousClock.Instant, interval: Duration = defaultInterval, maxUnanswered: Int = defaultMaxUnanswered
    ) {
        precondition(interval > .zero && maxUnanswered >= 1)
        self.interval = interval
        self.maxUnanswered = maxUnanswered
        nextTick = start + interval
    }

    /// Anything came from the peer. Every frame is a sign of life, not only the pong that was asked for: a pong may wait
    /// behind a large message.
    public mutating func received() {
        unanswered = 0
    }

    /// Time has passed. Ticks before ``nextTick`` do nothing; a late one counts once, however late.
    public mutating func tick(at now: ContinuousClock.Instant) -> Action {
        guard now >= nextTick else { return .none }
        guard unanswered < maxUnanswered else { return .dead }
        unanswered += 1
        nextTick = now + interval
        return .sendPing
    }

    /// Time has passed in which no ping can go out, because the peer has not taken yet what was sent before: there is
    /// nothing that it could have answered. A ping that is due waits for another interval.
    public mutating func skip(at now: ContinuousClock.Instant) {
        if now >= nextTick { nextTick = now + interval }
    }
}
