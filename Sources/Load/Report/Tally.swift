/// What a loop counts while it runs. The difference of two of them is what happened in between.
struct Tally: Equatable, Sendable {
    /// Requests sent for the first time.
    var started = 0
    /// Requests answered well.
    var acknowledged = 0
    /// Requests answered otherwise.
    var refused = 0
    /// Requests whose connection ended before the answer.
    var cut = 0
    /// Requests sent again on a new connection, or after a refusal that says to try again.
    var retried = 0
    /// Of the requests answered well, those that the server had accepted before (200 instead of 201).
    var confirmed = 0
    /// Messages that a subscriber got for the first time.
    var deliveries = 0
    /// Requests that were due and waited for a free connection for more than ``Publishers/lateAfter``.
    var late = 0
    /// Subscriptions that were resumed after their connection was lost.
    var resumed = 0
    /// Bytes of answers' content.
    var contentBytes = 0
    /// Slots that waited too long for the deliveries of their message.
    var overdue = 0

    /// What only grows while things go on: attempts that come to nothing are no progress.
    var progress: Int { acknowledged + deliveries + resumed }

    /// Requests of which no answer came to the end, whether or not their connection did.
    var unanswered: Int { started - acknowledged - refused }

    /// Requests with an outcome.
    var finished: Int { acknowledged + refused + cut }

    private static let fields: [any WritableKeyPath<Tally, Int> & Sendable] = [
        \.started, \.acknowledged, \.refused, \.cut, \.retried, \.confirmed, \.deliveries, \.late, \.resumed,
        \.contentBytes, \.overdue,
    ]

    /// The sums of two loops' tallies.
    static func + (a: Tally, b: Tally) -> Tally {
        var sum = a
        for field in fields { sum[keyPath: field] += b[keyPath: field] }
        return sum
    }

    /// What was counted between `b` and `a`.
    static func - (a: Tally, b: Tally) -> Tally {
        var difference = a
        for field in fields { difference[keyPath: field] -= b[keyPath: field] }
        return difference
    }
}
