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

    /// Judges the loops' records, which must be in the order of the loops.
    init(_ records: [LoopRecord], allowsAnyOrder: Bool = false) {
        self.allowsAnyOrder = allowsAnyOrder
        guard let first = records.first else { return }
        for fate in records.lazy.flatMap(\.sent.fates).joined() {
            switch fate {
            case .acknowledged: acknowledged += 1
            case .refused: refused += 1
            case .pending, .unknown: unanswered += 1
            }
        }
        for record in records {
            lost += record.lost.count
            subscribers += record.ledger.subscribers.count - record.lost.count
            foreign += record.ledger.foreign + record.ledger.misrouted
            add(record.ledger.foreign, "messages of another run, or none")
            add(record.ledger.misrouted, "messages that were sent to another room")
            for (index, reason) in record.lost.sorted(by: { $0.key < $1.key }) {
                let subscriber = record.ledger.subscribers[index]
                let seen = NumberFormat.count(subscriber.received, "message")
                add(fault: "\(subscriber.name) lost its connection after \(seen): \(reason)")
            }
        }
        for room in first.ledger.rooms.indices where records.contains(where: { $0.ledger.rooms[room].hasListeners }) {
            judge(ExpectedRoom(room: room, records: records), records)
        }
    }

    private mutating func add(_ count: Int, _ what: String) {
        if count > 0 { add(fault: "\(count) \(what) were delivered") }
    }

    /// Adds a fault. Its text is made only if it is listed.
    private mutating func add(fault: @autoclosure () -> String) {
        if faults.count < Self.listedFaults { faults.append(fault()) } else { unlisted += 1 }
    }

    private mutating func judge(_ expectation: ExpectedRoom, _ records: [LoopRecord]) {
        if !expectation.unsent.isEmpty {
            foreign += expectation.unsent.count
            add(fault: "room \(expectation.room) delivered what was never sent: \(NumberList(expectation.unsent))")
        }
        if !expectation.refusedYetSeen.isEmpty {
            foreign += expectation.refusedYetSeen.count
            add(
                fault:
                    "room \(expectation.room) delivered what it had refused: \(NumberList(expectation.refusedYetSeen))")
        }
        for record in records {
            let absent = expectation.absent(from: record)
            for index in record.ledger.subscribers.indices
            where record.ledger.subscribers[index].room == expectation.room {
                judge(record.ledger.subscribers[index], isLost: record.lost[index] != nil, absent, expectation, record)
            }
            let inversions = expectation.inversions(in: record)
            disordered += inversions
            if inversions > 0, !allowsAnyOrder {
                add(fault: "room \(expectation.room): loops 0 and \(record.sent.loop) saw other orders")
            }
        }
    }

    private mutating func judge(
        _ subscriber: SubscriberRecord, isLost: Bool, _ absent: [Int], _ expectation: ExpectedRoom, _ record: LoopRecord
    ) {
        let order = record.ledger.rooms[expectation.room].order
        let skipped = subscriber.faults?.skipped ?? []
        // Messages after the loss of a connection are not counted as missing: the loss itself is the fault.
        let tail = isLost ? order.count..<order.count : subscriber.position..<order.count
        let count = skipped.reduce(tail.count) { $0 + $1.count } + (isLost ? 0 : absent.count)
        if !isLost { expected += expectation.count - subscriber.start }
        if count > 0 {
            missing += count
            let numbers = (skipped + [tail]).joined().lazy.map { Int(order[$0]) }
            add(
                fault: "\(subscriber.name) misses \(count) of \(expectation.count) messages: "
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
