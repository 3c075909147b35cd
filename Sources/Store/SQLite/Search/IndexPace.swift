/// The pace of indexing words beside commits.
///
/// While many submissions share each commit, they wait for the writer, and indexing has a hundredth of its time. Without this, E
/// of `scripts/compare` falls from 43,000 sends a second to 28,000. Once they are fewer, indexing catches up at its full speed.
struct IndexPace {
    /// Number of submissions in a commit that wait for the writer.
    static let waiting = 8
    /// Time after such a commit until indexing has its full speed: 100 ms.
    static let rest = Duration.milliseconds(100)
    /// Number of times that the pause after a step is longer than the step.
    static let share = 100

    /// The time before which no step begins.
    private(set) var next = ContinuousClock.now
    private var busyUntil = ContinuousClock.now

    /// Notes a commit of submissions.
    mutating func note(_ submissions: Int, at time: ContinuousClock.Instant) {
        if submissions >= Self.waiting { busyUntil = time + Self.rest }
    }

    /// Notes a step of indexing.
    mutating func worked(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) {
        next = end < busyUntil ? end + (end - start) * Self.share : end
    }
}
