/// Decides how long a writer waits for sends that could share the next commit.
///
/// Suppose that a few senders each send again once they have their answer. Without a wait they fall into two groups:
/// while one group is committed, the other waits in the queue. Most commits then have few sends, although a commit
/// costs PostgreSQL about the same with one send or ten. With the wait all of them share each commit. The benchmark is
/// `scripts/compare --store postgres --scenarios E8`: sends per second, and PostgreSQL's CPU time for each.
///
/// A plain value.
struct GroupCommit {
    /// Maximum number of submissions to wait for. Larger commits gain little, and a wait would keep PostgreSQL idle.
    static let maximumCount = 16
    /// The longest wait, where a commit is slow: 5 milliseconds.
    static let longestWait = Duration.milliseconds(5)

    /// The submissions to wait for before the next commit; `nil` if it should begin at once.
    private(set) var expected: ExpectedGroup?

    /// Records a commit.
    ///
    /// The senders of its submissions, and those of the submissions that wait in the queue, are expected to share the
    /// next commit. The wait for them takes at most as long as this commit took. There is no wait for a lone sender.
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
