import Transport

/// The subscribers of one loop.
final class Audience {
    /// Bytes that the socket of a subscriber which is to stall takes in unread (SO_RCVBUF).
    static let stallingReceiveBuffer: Int32 = 16 << 10

    /// What every subscriber needs to know.
    let subscribing: Plan.Subscribing
    let clock: RunClock
    /// True if subscriptions resume after the last message received.
    let resumes: Bool
    /// Nonces and masking keys. The system's generator costs a system call each time, and nothing here is secret:
    /// masking protects intermediaries from web pages (RFC 6455 §10.3), and there is no page.
    var random = SmallGenerator()
    /// The epoch of the server's log, which goes with the resume points.
    private(set) var epoch: String?
    /// What has been seen.
    private(set) var ledger: Ledger
    /// The subscribers that have lost their connection, by their index in the ledger, and why.
    private(set) var lost: [Int: String] = [:]
    /// From when a message was due to be sent to seeing it, of those due from ``measuredFrom`` on.
    private(set) var latency = Latency()
    /// The time when the measurement begins.
    var measuredFrom = Int64.max
    /// The same, of messages due from ``disturbedFrom`` on, to those who do not disturb.
    private(set) var disturbedLatency = Latency()
    /// From the beginning of a storm to when each of its clients was subscribed and had what it had missed.
    private(set) var catchUp = Latency()
    /// The time when the disturbance begins.
    private var disturbedFrom = Int64.max
    /// The reason why subscribers could not connect.
    private(set) var failures = FailureLog()
    /// The number of subscribers that could not connect, or lost their connection before they were ready.
    private(set) var failed = 0
    /// The number of subscriptions that were resumed.
    private(set) var resumed = 0
    /// How many are subscribed now.
    private(set) var ready = 0
    /// True if the run is over, so that ending connections are no losses.
    var isEnding = false
    /// Called when all subscribers of a room have a message.
    var onComplete: (_ room: Int, _ number: Int) -> Void = { _, _ in }
    /// Called when a subscriber is lost for good.
    var onLoss: () -> Void = {}

    private let loop: Loop
    private let destination: Destination
    private let run: Int64
    private let plan: Plan
    private let burst: Int
    private let rate: Double?
    /// True if these are clients of the storm.
    private let isStorm: Bool
    private var subscribers: [Subscriber] = []
    /// How many of them have been begun with, the first first.
    private var begun = 0
    /// The time when the first of them was begun with.
    private var begunAt: Int64?
    private var underWay = 0
    private var waiting: [(subscriber: Subscriber, until: Int64)] = []

    init(plan: Plan, subscribing: Plan.Subscribing, loop: Loop, destination: Destination, clock: RunClock) {
        self.subscribing = subscribing
        self.loop = loop
        self.destination = destination
        self.clock = clock
        run = plan.run
        self.plan = plan
        resumes = plan.reconnects
        burst = max(1, plan.schedule.connectBurst / plan.threads)
        rate = plan.schedule.connectRate.map { $0 / Double(plan.threads) }
        ledger = Ledger(run: plan.run, rooms: plan.rooms)
        isStorm = plan.isOfStorm(loop: loop.index)
        if !isStorm { add(0..<plan.subscribers) }
    }

    /// Takes its share of the subscribers with these numbers.
    private func add(_ numbers: Range<Int>) {
        for id in numbers where id % plan.threads == loop.index % plan.threads {
            subscribers.append(Subscriber(id: id, room: id % plan.rooms, audience: self))
        }
    }

    // MARK: Connecting

    /// True if every subscriber is ready, or has failed for good.
    var isSettled: Bool { begun == subscribers.count && underWay == 0 && waiting.isEmpty }

    /// Begins what connections may be begun now. Call it again and again.
    func connectMore() {
        let now = clock.now
        let due = waiting.filter { $0.until <= now }
        waiting.removeAll { $0.until <= now }
        for (subscriber, _) in due { begin(subscriber) }
        // A storm's clients have saved nothing up while the run went on without them.
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
            // Every message of a room of the run's own took one rev, from 1.
            let seen = max(0, ledger.rooms[subscriber.room].order.count - back)
            let index = ledger.addSubscriber(id: subscriber.id, room: subscriber.room, start: seen)
            subscriber.joinStorm(seen: seen, index: index)
        }
        subscriber.connect(by: loop, to: destination, subscribing, run: run)
    }

    /// The values of a subscriber's templates.
    func values(of subscriber: Subscriber) -> Template.Values {
        Template.Values(run: run, room: subscriber.room, subscriber: subscriber.id)
    }

    /// A subscriber is subscribed.
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

    /// A subscriber has no connection any more, or got none.
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

    /// What a subscriber's socket may hold that it has not read: little for one that is to stall, so that the server
    /// soon notices.
    func receiveBuffer(of subscriber: Subscriber) -> Int32? {
        subscriber.id < plan.stalling ? Self.stallingReceiveBuffer : nil
    }

    /// Says from when on messages are of the disturbance. Those that are to stall are timed no more.
    func expectDisturbance(at time: Int64) {
        disturbedFrom = time
        // What was due by now is not of it, if it had been expected earlier.
        latency.add(disturbedLatency)
        disturbedLatency = Latency()
        for subscriber in subscribers where subscriber.id < plan.stalling { subscriber.isDisturbing = true }
    }

    /// Has the storm's clients connect, if they are here.
    ///
    /// - Parameter history: what the rooms' subscribers have seen until now.
    func beginStorm(after history: History) {
        guard isStorm else { return }
        ledger.adopt(history)
        add(plan.subscribers..<(plan.subscribers + plan.storming))
        connectMore()
    }

    /// Has those that are to stall read nothing more, or read on.
    func stall(_ isStalled: Bool) {
        for subscriber in subscribers where subscriber.id < plan.stalling { subscriber.stall(isStalled) }
    }

    /// Ends every socket in good order.
    func sayGoodbye() {
        isEnding = true
        for subscriber in subscribers { subscriber.sayGoodbye() }
    }

    // MARK: Receiving

    /// Enters what a subscriber has received.
    ///
    /// - Parameter isTimed: whether it counts how long the message took.
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

    /// Takes note of the epoch, in the first frame of the first subscription.
    func noteEpoch(in frame: Span<UInt8>) {
        if epoch == nil { epoch = ResumePoint.epoch(in: frame) }
    }

    /// True if every subscriber that is not lost has all that any subscriber of its room has.
    var isLevel: Bool { ledger.isLevel { lost[$0] != nil } }

    /// What is known at the end of those who have no connection.
    var lostAtEnd: [Int: String] {
        var all = lost
        for subscriber in subscribers where !subscriber.isReady {
            if let index = subscriber.index, all[index] == nil { all[index] = "not connected again when the run ended" }
        }
        return all
    }
}
