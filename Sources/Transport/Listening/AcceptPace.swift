/// Rate limit for accepting long-lived connections on a busy loop.
///
/// If thousands of clients reconnect at once, accepting them all at once would occupy every processor and stall the
/// connected clients. Accepting a few at a time takes longer, but hardly affects the connected clients. Clients that
/// only send a request are not counted. They wait in the same kernel queue while accepting is paused. Scenario G of
/// `scripts/compare` measures it.
struct AcceptPace {
    /// Duration for which each call of ``prioritizeClients(at:)`` gives connected clients priority.
    static let priorityDuration = Duration.seconds(1)
    /// Maximum pause in accepting, however many clients arrive at once.
    static let longestRest = Duration.milliseconds(100)

    /// The time between two clients at the maximum rate.
    private let share: Duration
    private let burst: Duration
    private var priorityEnd: ContinuousClock.Instant?
    /// The time at which the next client would be accepted if all were accepted at the maximum rate.
    private var due: ContinuousClock.Instant?

    /// - Parameters:
    ///   - rate: maximum number of accepted clients per second.
    ///   - burst: maximum number of clients accepted at once.
    init(rate: Int, burst: Int) {
        share = .seconds(1) / max(1, rate)
        self.burst = share * max(1, burst)
    }

    /// Gives priority to clients that are being served.
    mutating func prioritizeClients(at now: ContinuousClock.Instant) {
        priorityEnd = now + Self.priorityDuration
    }

    /// Counts a long-lived client that was accepted.
    mutating func arrived(at now: ContinuousClock.Instant) {
        // While no clients have priority, new ones are not limited and do not use up the share of later ones.
        guard isFavoring(at: now) else { return }
        due = min(max(due ?? now, now) + share, now + max(share, Self.longestRest))
    }

    /// Takes back the count of a client that has left. Otherwise clients that come and go would keep all others out.
    mutating func left(at now: ContinuousClock.Instant) {
        guard isFavoring(at: now), let due else { return }
        self.due = due - share
    }

    /// Returns the time to pause accepting; `nil` if the next client may be accepted.
    func rest(at now: ContinuousClock.Instant) -> Duration? {
        guard isFavoring(at: now), let due, due - now >= burst else { return nil }
        return due - now
    }

    private func isFavoring(at now: ContinuousClock.Instant) -> Bool {
        priorityEnd.map { now < $0 } ?? false
    }
}
