import Transport

/// The subscribers of one loop.
final class Audience {
    /// Size of a stalling subscriber's receive buffer in bytes (SO_RCVBUF).
    static let stallingReceiveBuffer: Int32 = 16 << 10

    /// The plan that all subscribers share.
    let subscribing: Plan.Subscribing
    let clock: RunClock
    /// True if subscriptions resume after the last received message.
    let resumes: Bool
    /// The generator of nonces and masking keys. The system's generator would cost a system call each time.
    /// Predictability is safe here: masking protects intermediaries from web pages (RFC 6455 §10.3), and there is no
    /// page.
    var random = SmallGenerator()
    /// The epoch of the server's log, which is sent with the resume points.
    private(set) var epoch: String?
    /// The messages received.
    private(set) var ledger: Ledger
    /// The subscribers that lost their connection, by their index in the ledger, with the reason.
    private(set) var lost: [Int: String] = [:]
    /// Latency from the time a message was due to its delivery, for messages due from ``measuredFrom`` on.
    private(set) var latency = Latency()
    /// The start of the measurement.
    var measuredFrom = Int64.max
    /// The same latency for messages due from ``disturbedFrom`` on, without the disturbing clients.
    private(set) var disturbedLatency = Latency()
    /// Latency from the start of a storm until each of its clients was subscribed and had the messages that it had
    /// missed.
    private(set) var catchUp = Latency()
    /// The start of the disturbance.
    private var disturbedFrom = Int64.max
    /// The reasons why subscribers could not connect.
    private(set) var failures = FailureLog()
    /// Number of subscribers that could not connect, or lost their connection before they were ready.
    private(set) var failed = 0
    /// Number of resumed subscriptions.
    private(set) var resumed = 0
    /// Number of subscribers that are subscribed now.
    private(set) var ready = 0
    /// True once the run is over, so that ending connections are not losses.
    var isEnding = false
    /// Called when all subscribers of a room have a message.
    var onComplete: (_ room: Int, _ number: Int) -> Void = { _, _ in }
    /// Called when a subscriber is lost permanently.
    var onLoss: () -> Void = {}

    private let loop: Loop
    private let destination: Destination
    private let plan: Plan
    private let burst: Int
    private let rate: Double?
    /// True if these are clients of the storm.
    private let isStorm: Bool
    private var subscribers: [Subscriber] = []
    /// Number of subscribers whose first connection was begun. They begin in order.
    private var begun = 0
    /// The time when the first connection was begun.
    private var begunAt: Int64?
    private var underWay = 0
    private var waiting: [(subscriber: Subscriber, until: Int64)] = []

    init(plan: Plan, subscribing: Plan.Subscribing, loop: Loop, destination: Destination, clock: RunClock) {
        self.subscribing = subscribing
        self.loop = loop
        self.destination = destination
        self.clock = clock
        self.plan = plan
        resumes = plan.reconnects
        burst = max(1, plan.schedule.connectBurst / plan.threads)
        rate = plan.schedule.connectRate.map { $0 / Double(plan.threads) }
        ledger = Ledger(run: plan.run, rooms: plan.rooms)
        isStorm = plan.isOfStorm(loop: loop.index)
        if !isStorm { add(0..<plan.subscribers) }
    }

    /// Adds this loop's share of the subscribers with these numbers.
    private func add(_ numbers: Range<Int>) {
        for id in numbers where id % plan.threads == loop.index % plan.threads {
            subscribers.append(Subscriber(id: id, room: id % plan.rooms, audience: self))
        }
    }

    // MARK: Connecting

    /// True if every subscriber is ready or has failed permanently.
    var isSettled: Bool { begun == subscribers.count && underWay == 0 && waiting.isEmpty }

    /// Begins as many connections as the limits allow now. Call it repeatedly.
    func connectMore() {
        let now = clock.now
        let due = waiting.filter { $0.until <= now }
        waiting.removeAll { $0.until <= now }
        for (subscriber, _) in due { begin(subscriber) }
        // The rate limit of a storm starts with its first client, so that no credit builds up before.
        if begunAt == nil, !subscribers.isEmpty { begunAt = now }
        while begun < subscribers.count, underWay < burst, isWithinRate(now) {
            begun += 1
            begin(subscribers[begun - 1])
        }
    }

    private func isWithinRate(_ now: Int64) -> Bool {
        guard let rate, let begunAt else { return true }
        return Double(begun) <= rate * Double(now - begunAt) / 1e9
    }

    private func begin(_ subscriber: Subscriber) {
        underWay += 1
        if case .storm(_, let back) = plan.disturbance, isStorm, subscriber.index == nil {
            // Each message of the run's own rooms took one rev, starting at 1.
            let seen = max(0, ledger.rooms[subscriber.room].order.count - back)
            let index = ledger.addSubscriber(id: subscriber.id, room: subscriber.room, start: seen)
            subscriber.joinStorm(seen: seen, index: index)
        }
        subscriber.connect(by: loop, to: destination)
    }

    /// Returns the values of a subscriber's templates.
    func values(of subscriber: Subscriber) -> Template.Values {
        Template.Values(run: plan.run, room: subscriber.room, subscriber: subscriber.id)
    }

    /// Handles a subscriber that is now subscribed.
    func becameReady(_ subscriber: Subscriber) {
        underWay -= 1
        ready += 1
        if subscriber.index == nil {
            subscriber.index = ledger.addSubscriber(id: subscriber.id, room: subscriber.room)
        } else if subscriber.isDisturbing {
            catchUp.record(clock.now - disturbedFrom)
        } else {
            resumed += 1
        }
        connectMore()
    }

    /// Handles a subscriber that lost its connection, or could not connect.
    func lost(_ subscriber: Subscriber, wasReady: Bool, reason: String, isFinal: Bool) {
        if wasReady { ready -= 1 } else { underWay -= 1 }
        guard !isEnding else { return }
        if !wasReady || resumes { failures.note(reason) }
        if resumes, !isFinal, subscriber.index != nil {
            subscriber.attempts += 1
            waiting.append((subscriber, clock.now + Backoff.delay(attempt: subscriber.attempts, using: &random)))
        } else if let index = subscriber.index {
            lost[index] = reason
            ledger.removeSubscriber(at: index)
            onLoss()
        } else {
            failed += 1
        }
    }

    // MARK: Disturbances

    /// Returns the receive buffer size of a subscriber's socket. It is small for one that is to stall, so that the
    /// server notices soon.
    func receiveBuffer(of subscriber: Subscriber) -> Int32? {
        subscriber.id < plan.stalling ? Self.stallingReceiveBuffer : nil
    }

    /// Sets the start of the disturbance. Subscribers that are to stall are not measured from then on.
    func expectDisturbance(at time: Int64) {
        disturbedFrom = time
        // Messages due before now belong to the measurement, if an earlier start was set.
        latency.add(disturbedLatency)
        disturbedLatency = Latency()
        for subscriber in subscribers where subscriber.id < plan.stalling { subscriber.isDisturbing = true }
    }

    /// Lets the storm's clients connect, if they are on this loop.
    ///
    /// - Parameter history: the messages that the rooms' subscribers have received so far.
    func beginStorm(after history: History) {
        guard isStorm else { return }
        ledger.adopt(history)
        add(plan.subscribers..<(plan.subscribers + plan.storming))
        connectMore()
    }

    /// Stops or resumes reading for the subscribers that are to stall.
    func stall(_ isStalled: Bool) {
        for subscriber in subscribers where subscriber.id < plan.stalling { subscriber.stall(isStalled) }
    }

    /// Closes every socket cleanly.
    func sayGoodbye() {
        isEnding = true
        for subscriber in subscribers { subscriber.sayGoodbye() }
    }

    // MARK: Receiving

    /// Records a message that a subscriber has received.
    ///
    /// - Parameter isTimed: True to record its latency.
    func enter(_ mark: Mark, subscriber index: Int, at now: Int64, isTimed: Bool = true) {
        let entry = ledger.enter(mark, subscriber: index)
        guard entry == .new || entry == .complete else { return }
        if isTimed, mark.time >= measuredFrom {
            if mark.time < disturbedFrom {
                latency.record(now - mark.time)
            } else {
                disturbedLatency.record(now - mark.time)
            }
        }
        if entry == .complete { onComplete(mark.room, mark.number) }
    }

    /// Reads the epoch from the first frame of the first subscription.
    func noteEpoch(in frame: Span<UInt8>) {
        if epoch == nil { epoch = ResumePoint.epoch(in: frame) }
    }

    /// True if every connected subscriber has every message that any subscriber of its room has.
    var isLevel: Bool { ledger.isLevel { lost[$0] != nil } }

    /// The subscribers without a connection at the end, with the reason.
    var lostAtEnd: [Int: String] {
        var all = lost
        for subscriber in subscribers where !subscriber.isReady {
            if let index = subscriber.index, all[index] == nil { all[index] = "not connected again when the run ended" }
        }
        return all
    }
}
