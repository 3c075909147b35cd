/// What a run has shown.
struct Report: Sendable {
    /// What was done.
    enum Kind: Sendable {
        /// Messages were sent, and watched if there are subscribers.
        case messages
        /// Pages were asked for.
        case pages
        /// Connections were held.
        case connections
    }

    let kind: Kind
    let plan: Plan
    /// How many subscribers were ready.
    var connected = 0
    /// How long that took.
    var connectSeconds = 0.0
    /// How long the measurement was.
    var seconds = 0.0
    /// What was counted in the measurement.
    var measured = Tally()
    /// What was counted in the whole run.
    var total = Tally()
    /// From when a request was due to its answer.
    var ack = LatencySummary()
    /// From when a message was due to be sent to each delivery of it.
    var delivery = LatencySummary()
    /// What was due in an open loop, and not begun when the measurement ended.
    var backlog = 0
    /// Subscribers, a storm's too, that had no connection at the end.
    var lost = 0
    /// Why connections and sends failed.
    var failures = FailureLog()
    /// What the server and this process used.
    var usage = UsageReport()
    /// Why the run ended before its time, if it did.
    var endedEarly: String?
    /// What came behind the measurement, if something did.
    var disturbance: DisturbanceReport?
    /// The judgement on the messages, when messages were sent.
    var verdict: Verdict?

    init(_ plan: Plan) {
        self.plan = plan
        kind =
            switch plan.publishing {
            case nil: .connections
            case let publishing?: publishing.sendsMessages ? .messages : .pages
            }
    }

    /// Takes the figures of the measurement, which began and ended with these.
    mutating func measure(from first: Snapshot, to last: Snapshot) {
        seconds = max(Double(last.time - first.time) / 1e9, 1e-9)
        measured = last.tally - first.tally
        backlog = last.backlog
    }

    /// Takes the figures of the whole run. The latencies are from here: those of late answers belong to them.
    mutating func finish(_ last: Snapshot) {
        total = last.tally
        ack = last.answer.summary
        delivery = last.delivery.summary
        disturbance?.ack = last.disturbedAnswer.summary
        disturbance?.delivery = last.disturbedDelivery.summary
        disturbance?.catchUp = last.catchUp.summary
        lost = plan.subscribers + plan.storming - last.subscribers
        failures = last.failures
    }

    /// Whether everything went as it should.
    var isGood: Bool {
        switch kind {
        case .messages: verdict?.isGood ?? false && (disturbance?.isComplete ?? true)
        case .pages: total.acknowledged > 0 && total.refused == 0 && total.unanswered == 0
        case .connections: lost == 0
        }
    }

    /// How many a second, in the measurement.
    func perSecond(_ count: Int) -> Double {
        seconds > 0 ? Double(count) / seconds : 0
    }
}
