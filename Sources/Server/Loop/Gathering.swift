/// True if changes that have arrived wait for others that arrive just now: as long as each turn brings some, but not
/// for long.
///
/// Senders who hear of a message together send the next one together. What goes into two commits then goes to each
/// subscriber by two writes, from then on: a room of 1000 with 8 senders had half the deliveries.
struct Gathering {
    /// For how long the first change waits at most, but for the turn that is under way then.
    static let limit = Duration.milliseconds(1)

    private var count = 0
    private var end: ContinuousClock.Instant?

    /// A turn has ended.
    ///
    /// - Parameters:
    ///   - count: how many changes wait now.
    ///   - now: asked for only when there are more than before.
    /// - Returns: whether to wait for what the next turn brings.
    mutating func goesOn(with count: Int, at now: @autoclosure () -> ContinuousClock.Instant) -> Bool {
        guard count > self.count else { return false }
        self.count = count
        let now = now()
        let end = self.end ?? now + Self.limit
        self.end = end
        return now < end
    }
}
