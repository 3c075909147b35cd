/// What one loop has sent, by room.
///
/// A room's messages are numbered without the loops asking each other: a loop's first message of a room has the loop's
/// own number, and each further one is higher by the count of loops.
struct SendLog: Sendable {
    /// The loop's number.
    let loop: Int
    /// The number of loops that send.
    let loops: Int
    /// By room, what became of the messages, in the order in which they were sent.
    private(set) var fates: [[Fate]]
    /// By room, how many messages were acknowledged.
    private(set) var acknowledged: [Int]
    /// The number of messages that may exist or not.
    private(set) var unknown = 0

    /// The log of a loop that has sent nothing.
    init(loop: Int, loops: Int, rooms: Int) {
        self.loop = loop
        self.loops = loops
        fates = Array(repeating: [], count: rooms)
        acknowledged = Array(repeating: 0, count: rooms)
    }

    /// Takes the next number of a room for a message that is about to be sent.
    mutating func nextNumber(in room: Int) -> Int {
        fates[room].append(.pending)
        return (fates[room].count - 1) * loops + loop
    }

    /// Notes what became of a message, once.
    mutating func note(_ fate: Fate, room: Int, number: Int) {
        fates[room][number / loops] = fate
        if fate == .acknowledged { acknowledged[room] += 1 }
        if fate == .unknown { unknown += 1 }
    }

    /// The numbers of a room's messages with this fate, ascending.
    func numbers(in room: Int, with fate: Fate) -> [Int] {
        fates[room].indices.filter { fates[room][$0] == fate }.map { $0 * loops + loop }
    }
}

/// What one loop knows about the messages of a run: what it has sent, and what its subscribers have seen.
struct Account: Sendable {
    /// What it has sent.
    var sent: SendLog
    /// What its subscribers have seen.
    var ledger: Ledger
    /// The subscribers without a connection, by their index in the ledger, and why.
    var lost: [Int: String] = [:]
}

extension [Account] {
    /// What became of a message; nil if it was never sent. The accounts are in the order of the loops, those that send
    /// first.
    func fate(room: Int, number: Int) -> Fate? {
        let senders = self[0].sent.loops
        let fates = self[number % senders].sent.fates[room]
        let index = number / senders
        return index < fates.count ? fates[index] : nil
    }
}
