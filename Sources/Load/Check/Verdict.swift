import Commands

/// The judgment of a run. It is good if every subscriber received every message exactly once and in order.
///
/// The messages are those that were acknowledged, and those without an answer that any subscriber received.
struct Verdict: Equatable, Sendable {
    /// Maximum number of faults that are described individually.
    static let listedFaults = 10

    /// Number of acknowledged messages.
    var acknowledged = 0
    /// Number of refused sends.
    var refused = 0
    /// Number of sends with an unknown outcome.
    var unanswered = 0
    /// Number of subscribers that were connected until the end.
    var subscribers = 0
    /// Number of subscribers that lost their connection.
    var lost = 0
    /// Number of deliveries that the connected subscribers should have received.
    var expected = 0
    /// Number of deliveries that did not arrive.
    var missing = 0
    /// Number of deliveries that arrived again.
    var duplicates = 0
    /// True if subscribers of a room may see its messages in different orders.
    let allowsAnyOrder: Bool
    /// Number of deliveries out of order. The order of a room is the one in which its messages were first received.
    var disordered = 0
    /// Number of deliveries of messages that were not sent in this run, were sent to another room, or were refused.
    var foreign = 0
    /// The first ``listedFaults`` faults, one line each.
    var faults: [String] = []
    /// Number of further faults.
    var unlisted = 0

    /// True if there is no fault.
    var isGood: Bool {
        missing == 0 && duplicates == 0 && (disordered == 0 || allowsAnyOrder) && foreign == 0 && lost == 0
            && refused == 0 && unanswered == 0 && acknowledged > 0
    }

    /// Judges the loops' accounts, which must be in the order of the loops.
    init(_ accounts: [Account], allowsAnyOrder: Bool = false) {
        self.allowsAnyOrder = allowsAnyOrder
        guard let first = accounts.first else { return }
        for fate in accounts.lazy.flatMap(\.sent.fates).joined() {
            switch fate {
            case .acknowledged: acknowledged += 1
            case .refused: refused += 1
            case .pending, .unknown: unanswered += 1
            }
        }
        for account in accounts {
            lost += account.lost.count
            subscribers += account.ledger.subscribers.count - account.lost.count
            foreign += account.ledger.foreign + account.ledger.misrouted
            add(account.ledger.foreign, "messages of another run, or none")
            add(account.ledger.misrouted, "messages that were sent to another room")
            for (index, reason) in account.lost.sorted(by: { $0.key < $1.key }) {
                let subscriber = account.ledger.subscribers[index]
                let seen = Figure.count(subscriber.received, "message")
                add(fault: "\(subscriber.name) lost its connection after \(seen): \(reason)")
            }
        }
        for room in first.ledger.rooms.indices where accounts.contains(where: { $0.ledger.rooms[room].hasListeners }) {
            judge(RoomTruth(room: room, accounts: accounts), accounts)
        }
    }

    private mutating func add(_ count: Int, _ what: String) {
        if count > 0 { add(fault: "\(count) \(what) were delivered") }
    }

    /// Adds a fault. Its text is made only if it is listed.
    private mutating func add(fault: @autoclosure () -> String) {
        if faults.count < Self.listedFaults { faults.append(fault()) } else { unlisted += 1 }
    }

    private mutating func judge(_ truth: RoomTruth, _ accounts: [Account]) {
        if !truth.unsent.isEmpty {
            foreign += truth.unsent.count
            add(fault: "room \(truth.room) delivered what was never sent: \(NumberList(truth.unsent))")
        }
        if !truth.refusedYetSeen.isEmpty {
            foreign += truth.refusedYetSeen.count
            add(fault: "room \(truth.room) delivered what it had refused: \(NumberList(truth.refusedYetSeen))")
        }
        for account in accounts {
            let absent = truth.absent(from: account)
            for index in account.ledger.subscribers.indices where account.ledger.subscribers[index].room == truth.room {
                judge(account.ledger.subscribers[index], isLost: account.lost[index] != nil, absent, truth, account)
            }
            let inversions = truth.inversions(in: account)
            disordered += inversions
            if inversions > 0, !allowsAnyOrder {
                add(fault: "room \(truth.room): loops 0 and \(account.sent.loop) saw other orders")
            }
        }
    }

    private mutating func judge(
        _ subscriber: SubscriberRecord, isLost: Bool, _ absent: [Int], _ truth: RoomTruth, _ account: Account
    ) {
        let order = account.ledger.rooms[truth.room].order
        let skipped = subscriber.faults?.skipped ?? []
        // Messages after the loss of a connection are not counted as missing: the loss itself is the fault.
        let tail = isLost ? order.count..<order.count : subscriber.position..<order.count
        let count = skipped.reduce(tail.count) { $0 + $1.count } + (isLost ? 0 : absent.count)
        if !isLost { expected += truth.count - subscriber.start }
        if count > 0 {
            missing += count
            let numbers = (skipped + [tail]).joined().lazy.map { Int(order[$0]) }
            add(
                fault: "\(subscriber.name) misses \(count) of \(truth.count) messages: "
                    + "\(NumberList(Array(numbers) + (isLost ? [] : absent)))")
        }
        guard let faults = subscriber.faults else { return }
        duplicates += faults.duplicates
        disordered += faults.late
        if faults.duplicates > 0 { add(fault: "\(subscriber.name) got \(faults.duplicates) messages again") }
        if faults.late > 0, !allowsAnyOrder {
            add(fault: "\(subscriber.name) got \(faults.late) messages in another order than others")
        }
    }
}

extension SubscriberRecord {
    fileprivate var name: String { "subscriber \(id) of room \(room)" }
}
