/// How fast a loop lets in clients that stay, while it is busy with those that it has.
///
/// Ten thousand clients that come back at once take a second of all processors, for which those who have stayed would
/// wait. Let in a few at a time they take two, and the others hardly notice. Clients that come for a request only are not
/// counted, but wait in the same queue while nobody is let in.
struct AcceptPace {
    /// For how long clients are favoured each time that some are served.
    static let favour = Duration.seconds(1)
    /// For how long nobody is let in at most, however many have come at once.
    static let longestRest = Duration.milliseconds(100)

    /// The time of a loop that one more client is given.
    private let share: Duration
    private let burst: Duration
    private var favouredUntil: ContinuousClock.Instant?
    /// The time when those who have come have had their shares.
    private var due: ContinuousClock.Instant?

    /// - Parameters:
    ///   - rate: how many clients are let in a second.
    ///   - burst: how many may come at once.
    init(rate: Int, burst: Int) {
        share = .seconds(1) / max(1, rate)
        self.burst = share * max(1, burst)
    }

    /// Clients are being served that should not have to wait.
    mutating func favourClients(at now: ContinuousClock.Instant) {
        favouredUntil = now + Self.favour
    }

    /// A client has come that stays.
    mutating func arrived(at now: ContinuousClock.Instant) {
        // Who comes while nobody is favoured takes nothing from anybody, nor from those who come later.
        guard isFavouring(at: now) else { return }
        due = min(max(due ?? now, now) + share, now + max(share, Self.longestRest))
    }

    /// For how long nobody is to be let in; `nil` when the next one may come.
    func rest(at now: ContinuousClock.Instant) -> Duration? {
        guard isFavouring(at: now), let due, due - now >= burst else { return nil }
        return due - now
    }

    private func isFavouring(at now: ContinuousClock.Instant) -> Bool {
        favouredUntil.map { now < $0 } ?? false
    }
}
