/// The counters at some moment, of one loop or of all.
struct RunCounters: Sendable {
    /// The moment, in nanoseconds since the start of the run.
    var time: Int64
    var tally = Tally()
    /// Latency from the time a request was due to its answer.
    var answer = Latency()
    /// Latency from the time a message was due to each delivery.
    var delivery = Latency()
    /// Latency of answers to requests due during the disturbance.
    var disturbedAnswer = Latency()
    /// Latency of deliveries of messages due during the disturbance, without the disturbing clients.
    var disturbedDelivery = Latency()
    /// Latency from the start of a storm until its clients had caught up.
    var catchUp = Latency()
    /// Number of subscribed subscribers.
    var subscribers = 0
    var failedSubscribers = 0
    var lostSubscribers = 0
    /// True while connections are being made.
    var isConnecting = false
    /// True if every subscriber has every message that others of its room have.
    var isLevel = true
    /// Number of requests without an answer, or with awaited deliveries.
    var outstanding = 0
    /// Number of requests that are due but not sent.
    var backlog = 0
    /// True if no publisher has a connection.
    var isDisconnected = true
    /// The reasons why connections and sends failed.
    var failures = FailureLog()

    /// Returns the sum of snapshots of different loops, taken at almost the same time.
    static func + (a: RunCounters, b: RunCounters) -> RunCounters {
        var sum = a
        sum.time = max(a.time, b.time)
        sum.tally = a.tally + b.tally
        sum.answer.add(b.answer)
        sum.delivery.add(b.delivery)
        sum.disturbedAnswer.add(b.disturbedAnswer)
        sum.disturbedDelivery.add(b.disturbedDelivery)
        sum.catchUp.add(b.catchUp)
        sum.subscribers += b.subscribers
        sum.failedSubscribers += b.failedSubscribers
        sum.lostSubscribers += b.lostSubscribers
        sum.isConnecting = a.isConnecting || b.isConnecting
        sum.isLevel = a.isLevel && b.isLevel
        sum.outstanding += b.outstanding
        sum.backlog += b.backlog
        sum.isDisconnected = a.isDisconnected && b.isDisconnected
        sum.failures.add(b.failures)
        return sum
    }
}
