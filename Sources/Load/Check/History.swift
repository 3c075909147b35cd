/// The messages of every room, in the order in which they were seen first.
struct History: Sendable {
    /// By the number of the room, the numbers of its messages.
    let orders: [[UInt32]]

    /// What the loops' subscribers have seen. Of loops that listen to the same room, one has seen as much as any.
    init(_ ledgers: [Ledger]) {
        orders = (ledgers.first?.rooms.indices ?? 0..<0).map { room in
            ledgers.map(\.rooms[room].order).max { $0.count < $1.count } ?? []
        }
    }
}
