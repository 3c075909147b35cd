import Commands
import Transport
import Wire

/// The publishers of one loop. It decides which requests are sent when, and records their outcomes.
final class Publishers {
    /// A request that begins later than this after it was due counts as late.
    static let lateAfter = Duration.milliseconds(2)
    /// Maximum time for an answer.
    static let patience = Duration.seconds(30)
    /// Maximum time that a slot waits for its message to reach every subscriber. The verdict waits longer.
    static let deliveryPatience = Duration.seconds(5)

    /// The sent messages and their fates.
    private(set) var log: SendLog
    private(set) var tally = Tally()
    /// The reasons why sends were not accepted.
    private(set) var failures = FailureLog()
    /// Latency from the time a request was due to its answer, for requests due from ``measuredFrom`` on.
    private(set) var latency = Latency()
    /// The same latency for requests due from ``disturbedFrom`` on.
    private(set) var disturbedLatency = Latency()
    /// The start of the measurement.
    var measuredFrom = Int64.max
    /// The start of the disturbance.
    private var disturbedFrom = Int64.max
    /// True if a slot is occupied until its message has reached every subscriber.
    private(set) var awaitsDeliveries: Bool

    /// The plan that all publishers share.
    let publishing: Plan.Publishing

    private let plan: Plan
    private let loop: Loop
    private let destination: Destination
    private let clock: RunClock
    private let loopsListening: [Int]
    private var slots: [Publisher] = []
    private var idle: [Publisher] = []
    /// The publishers that wait before a retry or before their next request.
    private var resting: [(publisher: Publisher, until: Int64)] = []
    /// The publishers whose slot is freed once the message has reached every subscriber.
    private var awaiting: [MessageID: Publisher] = [:]
    private var isRunning = false
    /// Number of loops that send.
    private let senders: Int
    /// This loop's share of the requests; zero without a publisher.
    private let share: Int
    private var nextRoom: Int
    private var nextDue = Int64.max
    private var interval: Int64 = 0
    private var random = SmallGenerator()
    private var request: [UInt8] = []
    private var body: [UInt8] = []

    private struct MessageID: Hashable {
        let room: Int
        let number: Int
    }

    init(plan: Plan, publishing: Plan.Publishing, loop: Loop, destination: Destination, clock: RunClock) {
        self.plan = plan
        self.publishing = publishing
        self.loop = loop
        self.destination = destination
        self.clock = clock
        let senders = plan.sendingLoops
        self.senders = senders
        log = SendLog(loop: loop.index, loops: senders, rooms: plan.rooms)
        let awaits = publishing.pacing == .closed(awaitsDeliveries: true) && plan.subscribers > 0
        awaitsDeliveries = awaits
        loopsListening = (0..<plan.rooms).map { awaits ? plan.loopsListening(to: $0) : 0 }
        nextRoom = loop.index % plan.activeRooms
        let share = publishing.count.map { ($0 + senders - 1 - loop.index) / senders } ?? .max
        self.share = loop.index < senders ? share : 0
        for id in stride(from: loop.index, to: publishing.inFlight, by: plan.threads) {
            slots.append(Publisher(id: id, publishers: self))
        }
        idle = slots.reversed()
    }

    // MARK: Sending

    /// Starts sending at `time`.
    func start(at time: Int64) {
        isRunning = true
        if share > 0, case .open(let perSecond) = publishing.pacing {
            interval = Int64(1e9 * Double(senders) / perSecond)
            nextDue = time + Int64(1e9 * Double(loop.index) / perSecond)
        }
        sendWhatIsDue()
    }

    /// Stops new requests. Outstanding ones continue.
    func stop() {
        isRunning = false
    }

    /// Sets the start of the disturbance.
    func expectDisturbance(at time: Int64) {
        disturbedFrom = time
        // Requests due before now belong to the measurement, if an earlier start was set.
        latency.add(disturbedLatency)
        disturbedLatency = Latency()
    }

    /// Number of occupied slots.
    var outstanding: Int { slots.count { $0.outgoing != nil } }

    /// Number of requests of an open loop that are due but not begun.
    var backlog: Int {
        interval > 0 ? min(max(0, Int((clock.now - nextDue) / interval)), share - tally.started) : 0
    }

    /// True if no publisher has a connection.
    var isDisconnected: Bool { slots.allSatisfy { $0.connection == nil } }

    /// Fills the free slots; in an open loop only with requests that are due.
    func sendWhatIsDue() {
        guard isRunning else { return }
        while !idle.isEmpty, tally.started < share {
            let now = clock.now
            if interval > 0 {
                guard nextDue <= now else { return }
                if now - nextDue > Self.lateAfter.nanoseconds { tally.late += 1 }
                begin(idle.removeLast(), due: nextDue)
                nextDue += interval
            } else {
                begin(idle.removeLast(), due: now)
            }
        }
    }

    /// Handles the passing of time: retries, and slots that have waited too long.
    func tick() {
        let now = clock.now
        let due = resting.filter { $0.until <= now }
        resting.removeAll { $0.until <= now }
        for (publisher, _) in due {
            if publisher.outgoing != nil { transmit(publisher) } else { idle.append(publisher) }
        }
        for publisher in slots {
            guard let outgoing = publisher.outgoing else { continue }
            if outgoing.isAnswered {
                guard now - outgoing.time > Self.deliveryPatience.nanoseconds else { continue }
                tally.overdue += 1
                free(publisher)
            } else if publisher.connection != nil, now - outgoing.sentAt > Self.patience.nanoseconds {
                publisher.disconnect()
                cut(publisher, reason: "no answer within \(NumberFormat.fixed(Self.patience.seconds, 0)) s")
            }
        }
        sendWhatIsDue()
    }

    private func begin(_ publisher: Publisher, due: Int64) {
        let room = nextRoom
        nextRoom = (nextRoom + senders) % plan.activeRooms
        let number = log.nextNumber(in: room)
        let loops = loopsListening[room]
        publisher.outgoing = Publisher.Outgoing(room: room, number: number, time: due, loopsWaiting: loops)
        if loops > 0 { awaiting[MessageID(room: room, number: number)] = publisher }
        tally.started += 1
        transmit(publisher)
    }

    private func transmit(_ publisher: Publisher) {
        guard let outgoing = publisher.outgoing else { return }
        publisher.outgoing?.sentAt = clock.now
        var values = Template.Values(
            run: plan.run, room: outgoing.room, publisher: publisher.id, number: outgoing.number, time: outgoing.time)
        values.random = .random(in: publishing.random, using: &random)
        request.removeAll(keepingCapacity: true)
        if publisher.connection == nil { publishing.hello?.append(values, to: &request) }
        publishing.request.append(values, to: &request, scratch: &body)
        publisher.transmit(request, by: loop, to: destination)
    }

    // MARK: Outcomes

    /// Handles the answer to a publisher's request.
    func answered(_ publisher: Publisher, _ answer: Answer) {
        guard let outgoing = publisher.outgoing, !outgoing.isAnswered else { return }
        switch answer.outcome {
        case .accepted(let isRepeat):
            publisher.outgoing?.isAnswered = true
            publisher.failures = 0
            tally.acknowledged += 1
            tally.contentBytes += answer.contentBytes
            if plan.reconnects, publishing.sendsMessages, isRepeat { tally.confirmed += 1 }
            log.note(.acknowledged, room: outgoing.room, number: outgoing.number)
            recordLatency(of: outgoing)
            if outgoing.loopsWaiting == 0 || !awaitsDeliveries { free(publisher) }
        case .refused(let reason, let mayPass):
            failures.note("refused: \(reason)")
            if plan.reconnects, mayPass { retry(publisher) } else { fail(publisher, .refused) }
        case .unknown(let reason): cut(publisher, reason: reason)
        }
    }

    private func recordLatency(of outgoing: Publisher.Outgoing) {
        guard outgoing.time >= measuredFrom else { return }
        if outgoing.time < disturbedFrom {
            latency.record(clock.now - outgoing.time)
        } else {
            disturbedLatency.record(clock.now - outgoing.time)
        }
    }

    /// Handles the loss of a publisher's connection.
    ///
    /// - Parameter wasSent: True if the server may have received the request.
    func cut(_ publisher: Publisher, reason: String, wasSent: Bool = true) {
        guard let outgoing = publisher.outgoing, !outgoing.isAnswered else { return }
        failures.note(reason)
        if plan.reconnects { retry(publisher) } else { fail(publisher, wasSent ? .unknown : .refused) }
    }

    /// Handles a message that has reached all subscribers of one of the loops.
    func delivered(room: Int, number: Int) {
        guard let publisher = awaiting[MessageID(room: room, number: number)] else { return }
        publisher.outgoing?.loopsWaiting -= 1
        if let outgoing = publisher.outgoing, outgoing.loopsWaiting == 0, outgoing.isAnswered { free(publisher) }
    }

    /// Stops waiting for deliveries, because a subscriber is lost permanently and no message can reach all of them.
    func stopAwaitingDeliveries() {
        guard awaitsDeliveries else { return }
        awaitsDeliveries = false
        for publisher in slots where publisher.outgoing?.isAnswered == true { free(publisher) }
    }

    private func retry(_ publisher: Publisher) {
        tally.retried += 1
        rest(publisher)
    }

    private func fail(_ publisher: Publisher, _ fate: Fate) {
        guard let outgoing = publisher.outgoing else { return }
        if fate == .refused { tally.refused += 1 } else { tally.cut += 1 }
        log.note(fate, room: outgoing.room, number: outgoing.number)
        forget(outgoing)
        publisher.outgoing = nil
        rest(publisher)
    }

    /// Delays a publisher's next attempt after the server refused or could not be reached.
    private func rest(_ publisher: Publisher) {
        publisher.failures += 1
        resting.append((publisher, clock.now + Backoff.delay(attempt: publisher.failures, using: &random)))
    }

    private func free(_ publisher: Publisher) {
        guard let outgoing = publisher.outgoing else { return }
        forget(outgoing)
        publisher.outgoing = nil
        idle.append(publisher)
        sendWhatIsDue()
    }

    private func forget(_ outgoing: Publisher.Outgoing) {
        awaiting[MessageID(room: outgoing.room, number: outgoing.number)] = nil
    }
}
