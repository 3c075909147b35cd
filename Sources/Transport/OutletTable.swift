/// The sockets of a loop that take bytes without the library: plain ones whose kernel has taken all that was written before.
///
/// Eight bytes each, side by side, by the slots of their connections. A thousand pushes look here and nowhere else, where
/// each would wait for a connection of its own to come from memory otherwise.
struct OutletTable {
    private struct Entry {
        var generation: UInt32 = 0
        var descriptor: Int32 = -1
    }

    private var entries: [Entry] = []

    /// Opens an outlet, or with `nil` closes it.
    mutating func set(_ outlet: Outlet, to descriptor: Int32?) {
        while entries.count <= outlet.slot { entries.append(Entry()) }
        entries[outlet.slot] = Entry(generation: outlet.generation, descriptor: descriptor ?? -1)
    }

    /// An outlet's socket; `nil` when it takes nothing now, or its connection has closed.
    subscript(outlet: Outlet) -> Int32? {
        guard outlet.slot < entries.count else { return nil }
        let entry = entries[outlet.slot]
        return entry.generation == outlet.generation && entry.descriptor >= 0 ? entry.descriptor : nil
    }
}

/// A connection's name for ``Loop/push(_:to:)``, which finds the socket by it and leaves the connection alone.
public struct Outlet: RawRepresentable, Hashable, Sendable {
    /// The number of the connection in the upper half, without what does not fit, and its slot in the lower.
    public let rawValue: UInt64

    /// The outlet that has given this ``rawValue``.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    init(slot: Int, id: UInt64) {
        rawValue = id << 32 | UInt64(UInt32(slot))
    }

    /// Where the loop's table holds the connection.
    var slot: Int { Int(UInt32(truncatingIfNeeded: rawValue)) }
    /// What tells it from those that have had the slot before.
    var generation: UInt32 { UInt32(rawValue >> 32) }
}
