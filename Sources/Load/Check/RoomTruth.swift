/// What a room's subscribers should have got, by the accounts of all loops together.
struct RoomTruth {
    /// The room's number.
    let room: Int
    /// The number of messages that is.
    let count: Int
    /// Numbers that were seen and never sent.
    let unsent: [Int]
    /// Numbers that were seen although their send was refused.
    let refusedYetSeen: [Int]
    /// What must have been seen.
    private let numbers: Set<Int>
    private let loops: Int
    /// For each number its place in the order that the first loop's subscribers saw.
    private let reference: [UInt32: Int]

    init(room: Int, accounts: [Account]) {
        self.room = room
        loops = accounts.count
        var unsent: Set<Int> = []
        var refused: Set<Int> = []
        var seen: Set<Int> = []
        for account in accounts {
            for number in account.ledger.rooms[room].order.lazy.map(Int.init) {
                switch accounts.fate(room: room, number: number) {
                case nil: unsent.insert(number)
                case .refused: refused.insert(number)
                default: seen.insert(number)
                }
            }
        }
        for account in accounts { seen.formUnion(account.sent.numbers(in: room, with: .acknowledged)) }
        numbers = seen
        count = seen.count
        self.unsent = unsent.sorted()
        refusedYetSeen = refused.sorted()
        // With one loop there is nothing to compare.
        let order = loops > 1 ? accounts.first { !$0.ledger.rooms[room].order.isEmpty }?.ledger.rooms[room].order : nil
        reference = Dictionary(uniqueKeysWithValues: (order ?? []).enumerated().map { ($1, $0) })
    }

    /// What none of a loop's subscribers got, ascending.
    func absent(from account: Account) -> [Int] {
        let ledger = account.ledger.rooms[room]
        return numbers.filter { !ledger.hasSeen($0) }.sorted()
    }

    /// How often, going along the order that a loop's subscribers saw, one goes back in that of the first loop.
    func inversions(in account: Account) -> Int {
        guard loops > 1 else { return 0 }
        var last = -1
        var count = 0
        for case let place? in account.ledger.rooms[room].order.lazy.map({ reference[$0] }) {
            if place < last { count += 1 }
            last = place
        }
        return count
    }
}
