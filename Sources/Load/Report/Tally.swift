/// The counters of a loop. The difference of two tallies is the activity between them.
struct Tally: Equatable, Sendable {
    /// Number of requests sent for the first time.
    var started = 0
    /// Number of requests answered with success.
    var acknowledged = 0
    /// Number of requests answered otherwise.
    var refused = 0
    /// Number of requests whose connection ended before the answer.
    var cut = 0
    /// Number of requests sent again, on a new connection or after a refusal that allows a retry.
    var retried = 0
    /// Number of successful requests that the server had already accepted before (200 instead of 201).
    var confirmed = 0
    /// Number of messages that a subscriber received for the first time.
    var deliveries = 0
    /// Number of requests that waited longer than ``Publishers/lateAfter`` for a free connection after they were due.
    var late = 0
    /// Number of subscriptions that resumed after their connection was lost.
    var resumed = 0
    /// Number of content bytes in answers.
    var contentBytes = 0
    /// Number of slots that waited too long for the deliveries of their message.
    var overdue = 0

    /// A count that grows only with progress. Failed attempts are not progress.
    var progress: Int { acknowledged + deliveries + resumed }

    /// Number of requests without an answer at the end, whether or not their connection ended.
    var unanswered: Int { started - acknowledged - refused }

    /// Number of requests with an outcome.
    var finished: Int { acknowledged + refused + cut }

    private static let fields: [any WritableKeyPath<Tally, Int> & Sendable] = [
        \.started, \.acknowledged, \.refused, \.cut, \.retried, \.confirmed, \.deliveries, \.late, \.resumed,
        \.contentBytes, \.overdue,
    ]

    /// Returns the sums of two loops' tallies.
    static func + (a: Tally, b: Tally) -> Tally {
        var sum = a
        for field in fields { sum[keyPath: field] += b[keyPath: field] }
        return sum
    }

    /// Returns the counts between `b` and `a`.
    static func - (a: Tally, b: Tally) -> Tally {
        var difference = a
        for field in fields { difference[keyPath: field] -= b[keyPath: field] }
        return difference
    }
}
