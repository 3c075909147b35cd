/// What was counted up to some moment, on one loop or on all of them.
struct Snapshot: Sendable {
    /// When, in nanoseconds since the run began.
    var time: Int64
    var tally = Tally()
    /// From when a request was due to its answer.
    var answer = Latency()
    /// From when a message was due to be sent to each delivery.
    var delivery = Latency()
    /// To the answers, of requests due during the disturbance.
    var disturbedAnswer = Latency()
    /// To the deliveries to those who do not disturb, of messages due during the disturbance.
    var disturbedDelivery = Latency()
    /// From the beginning of a storm to when its clients were level.
    var catchUp = Latency()
    /// How many are subscribed.
    var subscribers = 0
    var failedSubscribers = 0
    var lostSubscribers = 0
    /// True if connections are still being made.
    var isConnecting = false
    /// True if every subscriber has what others of its room have.
    var isLevel = true
    /// The number of requests that are unanswered, or their deliveries awaited.
    var outstanding = 0
    /// The number of requests that are overdue to be sent.
    var backlog = 0
    /// True if no publisher has a connection.
    var isDisconnected = true
    /// The reason why connections and sends failed.
    var failures = FailureLog()

    /// The sum of two, which are of different loops; they are taken almost at once.
    static func + (a: Snapshot, b: Snapshot) -> Snapshot {
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
