/// The sends of one loop, by room.
///
/// Loops number the messages of a room without coordination: a loop's first message has the loop's own number, and each
/// further one is higher by the number of loops.
struct SendLog: Sendable {
    let loop: Int
    /// The number of loops that send.
    let loops: Int
    /// The fates of the messages by room, in the order in which they were sent.
    private(set) var fates: [[Fate]]
    /// Number of acknowledged messages by room.
    private(set) var acknowledged: [Int]
    /// Number of messages with an unknown fate: they may or may not exist.
    private(set) var unknown = 0

    init(loop: Int, loops: Int, rooms: Int) {
        self.loop = loop
        self.loops = loops
        fates = Array(repeating: [], count: rooms)
        acknowledged = Array(repeating: 0, count: rooms)
    }

    /// Returns the next number of a room, for a message about to be sent.
    mutating func nextNumber(in room: Int) -> Int {
        fates[room].append(.pending)
        return (fates[room].count - 1) * loops + loop
    }

    /// Records the fate of a message. Call it once per message.
    mutating func note(_ fate: Fate, room: Int, number: Int) {
        fates[room][number / loops] = fate
        if fate == .acknowledged { acknowledged[room] += 1 }
        if fate == .unknown { unknown += 1 }
    }

    /// Returns the numbers of a room's messages with this fate, in ascending order.
    func numbers(in room: Int, with fate: Fate) -> [Int] {
        fates[room].indices.filter { fates[room][$0] == fate }.map { $0 * loops + loop }
    }
}

/// The record of one loop: the messages that it sent and those that its subscribers received.
struct LoopRecord: Sendable {
    var sent: SendLog
    var ledger: Ledger
    /// The subscribers without a connection, by their index in the ledger, with the reason.
    var lost: [Int: String] = [:]
}

extension [LoopRecord] {
    /// Returns the fate of a message; nil if it was never sent. The records must be in the order of the loops, the
    /// sending ones first.
    func fate(room: Int, number: Int) -> Fate? {
        let senders = self[0].sent.loops
        let fates = self[number % senders].sent.fates[room]
        let index = number / senders
        return index < fates.count ? fates[index] : nil
    }
}
