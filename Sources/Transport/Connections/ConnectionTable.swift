/// The connections of a loop, each in its own slot. The slot of a closed connection is reused.
struct ConnectionTable {
    private var slots: [Connection?] = []
    private var freeSlots: [Int] = []
    private var nextID: UInt64 = 1

    var count: Int { slots.count - freeSlots.count }

    /// A copy of the list of connections. The table may change while the copy is iterated.
    var all: [Connection] { slots.compactMap { $0 } }

    /// Adds the connection that `make` returns for its slot and an id that is never reused.
    mutating func insert(_ make: (_ slot: Int, _ id: UInt64) -> Connection) -> Connection {
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append(nil) }
        let connection = make(slot, nextID)
        nextID += 1
        slots[slot] = connection
        return connection
    }

    mutating func remove(_ slot: Int) {
        slots[slot] = nil
        freeSlots.append(slot)
    }

    subscript(slot: Int) -> Connection? { slots[slot] }

    /// The connection with this `slot` and `id`; `nil` if it has closed since.
    subscript(slot: Int, id: UInt64) -> Connection? {
        guard let connection = slots[slot], connection.id == id else { return nil }
        return connection
    }
}
