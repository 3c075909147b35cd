/// The results of a run.
struct Report: Sendable {
    /// The kind of run.
    enum Kind: Sendable {
        /// Messages were sent, and checked if there are subscribers.
        case messages
        /// Pages were read.
        case pages
        /// Connections were only held.
        case connections
    }

    let kind: Kind
    let plan: Plan
    /// Number of subscribers that were ready.
    var connected = 0
    /// Time until they were ready, in seconds.
    var connectSeconds = 0.0
    /// Duration of the measurement in seconds.
    var seconds = 0.0
    /// The counts of the measurement.
    var measured = Tally()
    /// The counts of the whole run.
    var total = Tally()
    /// Latency from the time a request was due to its answer.
    var ack = LatencySummary()
    /// Latency from the time a message was due to each of its deliveries.
    var delivery = LatencySummary()
    /// Number of requests of an open loop that were due but not begun at the end of the measurement.
    var backlog = 0
    /// Number of subscribers, including a storm's, without a connection at the end.
    var lost = 0
    /// The reasons why connections and sends failed.
    var failures = FailureLog()
    /// The resource usage of the server and this process.
    var usage = UsageReport()
    /// The reason why the run ended early, if it did.
    var endedEarly: String?
    /// The disturbance after the measurement, if there was one.
    var disturbance: DisturbanceReport?
    /// The judgment on the messages, if any were sent.
    var verdict: Verdict?

    init(_ plan: Plan) {
        self.plan = plan
        kind =
            switch plan.publishing {
            case nil: .connections
            case let publishing?: publishing.sendsMessages ? .messages : .pages
            }
    }

    /// Computes the figures of the measurement from the snapshots at its start and end.
    mutating func measure(from first: RunCounters, to last: RunCounters) {
        seconds = max(Double(last.time - first.time) / 1e9, 1e-9)
        measured = last.tally - first.tally
        backlog = last.backlog
    }

    /// Computes the figures of the whole run. The latencies are taken here, so that late answers are included.
    mutating func finish(_ last: RunCounters) {
        total = last.tally
        ack = last.answer.summary
        delivery = last.delivery.summary
        disturbance?.ack = last.disturbedAnswer.summary
        disturbance?.delivery = last.disturbedDelivery.summary
        disturbance?.catchUp = last.catchUp.summary
        lost = plan.subscribers + plan.storming - last.subscribers
        failures = last.failures
    }

    /// Minimum share of the requested rate that must be answered for a run to be good.
    static let leastShare = 0.5

    /// The number of requests that `--rate` asked for in the measurement, if fewer than ``leastShare`` of them were
    /// answered during it. The figures then belong to a lower load.
    var unmetRequests: Int? {
        guard case .open(let perSecond) = plan.publishing?.pacing, plan.publishing?.count == nil else { return nil }
        let asked = Int(perSecond * seconds)
        return asked > 1 && Double(measured.finished) < Double(asked) * Self.leastShare ? asked : nil
    }

    /// True if the run succeeded.
    var isGood: Bool {
        guard unmetRequests == nil else { return false }
        return switch kind {
        case .messages: verdict?.isGood ?? false && (disturbance?.isComplete ?? true)
        case .pages: total.acknowledged > 0 && total.refused == 0 && total.unanswered == 0
        case .connections: lost == 0
        }
    }

    /// Returns a count per second of the measurement.
    func perSecond(_ count: Int) -> Double {
        seconds > 0 ? Double(count) / seconds : 0
    }
}
