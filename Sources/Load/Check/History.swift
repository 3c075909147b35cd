/// The messages of every room, in the order in which they were first received.
struct History: Sendable {
    /// The numbers of each room's messages, indexed by the room's number.
    let orders: [[UInt32]]

    /// Creates the history from the loops' ledgers. If several loops listen to a room, the order of the loop with the
    /// most messages is used.
    init(_ ledgers: [Ledger]) {
        orders = (ledgers.first?.rooms.indices ?? 0..<0).map { room in
            ledgers.map(\.rooms[room].order).max { $0.count < $1.count } ?? []
        }
    }
}
