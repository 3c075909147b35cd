/// A decision how long to wait for sends that could share the next commit.
///
/// A few senders who each send again once they have their answer fall into two groups without this wait: while one group is
/// committed, the other waits. Then most commits have one or two sends, and a commit costs PostgreSQL almost the same
/// whether it has one send or ten. After the wait they share each commit. `scripts/compare --store postgres --scenarios E8`
/// defends it: more sends a second, with less of PostgreSQL's CPU time for each.
///
/// A plain value.
struct GroupCommit {
    /// Maximum number of submissions to wait for. Larger commits gain little, and a wait would keep PostgreSQL idle.
    static let maximumCount = 16
    /// The longest wait, where a commit is slow: 5 milliseconds.
    static let longestWait = Duration.milliseconds(5)

    /// The submissions to wait for before the next commit; `nil` if it should begin at once.
    private(set) var expected: ExpectedGroup?

    /// Notes a commit.
    ///
    /// All whose submissions were in it or have queued up behind it are expected to send again, within the time that a commit
    /// takes. A lone sender is never waited for.
    ///
    /// - Parameters:
    ///   - count: The number of its submissions; 0 if it failed.
    ///   - waiting: The number of submissions that wait for the next one.
    mutating func note(
        committed count: Int, waiting: Int, from start: ContinuousClock.Instant, to end: ContinuousClock.Instant
    ) {
        let all = count + waiting
        expected =
            count > 0 && all > 1 && all <= Self.maximumCount
            ? ExpectedGroup(count: all, deadline: end + min(end - start, Self.longestWait)) : nil
    }
}
