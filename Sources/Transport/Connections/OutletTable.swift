/// The sockets of a loop that can be written without the library: plain ones whose earlier bytes the kernel has taken.
///
/// It has eight bytes per connection, next to each other and indexed by slot. Pushes to many connections only read this
/// table, which avoids a cache miss per connection.
struct OutletTable {
    private struct Entry {
        var generation: UInt32 = 0
        var descriptor: Int32 = -1
    }

    private var entries: [Entry] = []

    /// Opens an outlet, or closes it with `nil`.
    mutating func set(_ outlet: Outlet, to descriptor: Int32?) {
        while entries.count <= outlet.slot { entries.append(Entry()) }
        entries[outlet.slot] = Entry(generation: outlet.generation, descriptor: descriptor ?? -1)
    }

    /// The socket of an outlet; `nil` if it cannot take bytes now, or if its connection has closed.
    subscript(outlet: Outlet) -> Int32? {
        guard outlet.slot < entries.count else { return nil }
        let entry = entries[outlet.slot]
        return entry.generation == outlet.generation && entry.descriptor >= 0 ? entry.descriptor : nil
    }
}

/// The name of a connection for ``Loop/push(_:to:)``, which finds the socket without accessing the connection.
public struct Outlet: RawRepresentable, Hashable, Sendable {
    /// The low 32 bits of the connection's id in the upper half, its slot in the lower half.
    public let rawValue: UInt64

    /// Creates the outlet with this ``rawValue``.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    init(slot: Int, id: UInt64) {
        rawValue = id << 32 | UInt64(UInt32(slot))
    }

    /// The slot of the connection in the loop's table.
    var slot: Int { Int(UInt32(truncatingIfNeeded: rawValue)) }
    /// The number that distinguishes it from earlier connections in the slot.
    var generation: UInt32 { UInt32(rawValue >> 32) }
}
