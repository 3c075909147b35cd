/// The connections of a loop, each in a slot of its own, which goes to another when it has closed.
struct ConnectionTable {
    private var slots: [Connection?] = []
    private var freeSlots: [Int] = []
    private var nextID: UInt64 = 1

    /// The number of connections.
    var count: Int { slots.count - freeSlots.count }

    /// All connections, as of now: what happens to them meanwhile does not disturb whoever goes through them.
    var all: [Connection] { slots.compactMap { $0 } }

    /// Adds the connection that `make` makes, given its slot and a number that is never given again.
    mutating func insert(_ make: (_ slot: Int, _ id: UInt64) -> Connection) -> Connection {
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append(nil) }
        let connection = make(slot, nextID)
        nextID += 1
        slots[slot] = connection
        return connection
    }

    /// Forgets the connection in `slot`.
    mutating func remove(_ slot: Int) {
        slots[slot] = nil
        freeSlots.append(slot)
    }

    /// The connection in `slot`, if there is one.
    subscript(slot: Int) -> Connection? { slots[slot] }

    /// The connection that was given `slot` and `id`, unless it has closed since.
    subscript(slot: Int, id: UInt64) -> Connection? {
        guard let connection = slots[slot], connection.id == id else { return nil }
        return connection
    }
}
