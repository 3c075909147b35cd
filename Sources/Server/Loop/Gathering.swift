/// Decides whether changes that have arrived wait for others that are arriving: as long as each turn brings some, up to
/// ``limit``.
///
/// Clients that receive a message together send their next messages together. If these were split into two commits, each
/// subscriber would get two writes instead of one. Scenario A of `scripts/compare` measures it.
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
