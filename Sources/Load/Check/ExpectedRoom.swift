/// The messages that a room's subscribers should have received, according to all loops.
struct ExpectedRoom {
    let room: Int
    /// Number of these messages.
    let count: Int
    /// Numbers that were received but never sent.
    let unsent: [Int]
    /// Numbers that were received although the server refused them.
    let refusedYetSeen: [Int]
    private let numbers: Set<Int>
    private let loops: Int
    /// The place of each number in the order of the first loop's subscribers.
    private let reference: [UInt32: Int]

    init(room: Int, records: [LoopRecord]) {
        self.room = room
        loops = records.count
        var unsent: Set<Int> = []
        var refused: Set<Int> = []
        var seen: Set<Int> = []
        for record in records {
            for number in record.ledger.rooms[room].order.lazy.map(Int.init) {
                switch records.fate(room: room, number: number) {
                case nil: unsent.insert(number)
                case .refused: refused.insert(number)
                default: seen.insert(number)
                }
            }
        }
        for record in records { seen.formUnion(record.sent.numbers(in: room, with: .acknowledged)) }
        numbers = seen
        count = seen.count
        self.unsent = unsent.sorted()
        refusedYetSeen = refused.sorted()
        // With one loop there is nothing to compare.
        let order = loops > 1 ? records.first { !$0.ledger.rooms[room].order.isEmpty }?.ledger.rooms[room].order : nil
        reference = Dictionary(uniqueKeysWithValues: (order ?? []).enumerated().map { ($1, $0) })
    }

    /// Returns the messages that no subscriber of a loop received, in ascending order.
    func absent(from record: LoopRecord) -> [Int] {
        let ledger = record.ledger.rooms[room]
        return numbers.filter { !ledger.hasSeen($0) }.sorted()
    }

    /// Returns the number of pairs of consecutive messages in a loop's order that the first loop's order has the other
    /// way round.
    func inversions(in record: LoopRecord) -> Int {
        guard loops > 1 else { return 0 }
        var last = -1
        var count = 0
        for case let place? in record.ledger.rooms[room].order.lazy.map({ reference[$0] }) {
            if place < last { count += 1 }
            last = place
        }
        return count
    }
}
