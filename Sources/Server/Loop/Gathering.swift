/// Decides whether submissions wait for others that are still arriving. They wait as long as each turn brings more, up
/// to ``limit``.
///
/// Clients that receive a message together send their next messages together. If these were split into two commits, each
/// subscriber would get two writes instead of one. Scenario A of `scripts/compare` measures it.
struct Gathering {
    /// Maximum time that the first change waits; the current turn may still end.
    static let limit = Duration.milliseconds(1)

    private var count = 0
    private var end: ContinuousClock.Instant?

    /// Records the end of a turn.
    ///
    /// - Parameters:
    ///   - count: The number of changes that wait.
    ///   - now: Read only if the number has grown.
    /// - Returns: True to wait for the next turn's submissions.
    mutating func goesOn(with count: Int, at now: @autoclosure () -> ContinuousClock.Instant) -> Bool {
        guard count > self.count else { return false }
        self.count = count
        let now = now()
        let end = self.end ?? now + Self.limit
        self.end = end
        return now < end
    }
}
