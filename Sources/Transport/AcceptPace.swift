/// How fast a loop lets in new connections while it is busy with clients that it has.
///
/// Ten thousand clients that come back at once take a second of all processors, for which those who have stayed would
/// wait. Let in a few at a time they take two or three, and nobody else notices.
struct AcceptPace {
    /// For how long clients are favoured each time that one is served.
    static let favour = Duration.seconds(1)

    private let limit: Int
    private let interval: Duration
    private var favouredUntil: ContinuousClock.Instant?
    private var start: ContinuousClock.Instant?
    private var count = 0

    /// - Parameters:
    ///   - limit: how many are let in within `interval`.
    init(limit: Int, interval: Duration) {
        self.limit = max(1, limit)
        self.interval = interval
    }

    /// A client is being served that should not have to wait.
    mutating func favourClients(at now: ContinuousClock.Instant) {
        favouredUntil = now + Self.favour
    }

    /// For how long nobody more is to be let in; `nil` when the next one may come.
    func rest(at now: ContinuousClock.Instant) -> Duration? {
        guard let favouredUntil, now < favouredUntil, let start, now < start + interval, count >= limit else {
            return nil
        }
        return start + interval - now
    }

    /// One more has been let in.
    mutating func admitted(at now: ContinuousClock.Instant) {
        if start.map({ now >= $0 + interval }) ?? true { (start, count) = (now, 0) }
        count += 1
    }
}
