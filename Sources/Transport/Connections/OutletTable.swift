import CLibwebsockets
import Glibc

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

    /// Returns the number of a connection's outlet: the low 32 bits of the connection's id in the upper half, its slot in
    /// the lower half.
    static func outlet(slot: Int, id: UInt64) -> UInt64 { id << 32 | UInt64(UInt32(slot)) }

    /// Returns the slot of an outlet's connection in the loop's table.
    static func slot(of outlet: UInt64) -> Int { Int(UInt32(truncatingIfNeeded: outlet)) }

    /// Opens an outlet, or closes it with `nil`.
    mutating func set(_ outlet: UInt64, to descriptor: Int32?) {
        let slot = Self.slot(of: outlet)
        while entries.count <= slot { entries.append(Entry()) }
        entries[slot] = Entry(generation: UInt32(outlet >> 32), descriptor: descriptor ?? -1)
    }

    /// The socket of an outlet; `nil` if it cannot take bytes now, or if its connection has closed.
    subscript(outlet: UInt64) -> Int32? {
        let slot = Self.slot(of: outlet)
        guard slot < entries.count else { return nil }
        let entry = entries[slot]
        return entry.generation == UInt32(outlet >> 32) && entry.descriptor >= 0 ? entry.descriptor : nil
    }
}

extension Loop {
    /// Sends bytes to the connection of an outlet if it can take them now, as ``Connection/write(_:)`` would. It serves to
    /// write to many connections in a row, such as all subscribers of a room (scenario A of `scripts/compare`).
    ///
    /// It sends only if the connection has ``Connection/takesPushes`` set, is open and is not congested. If the kernel
    /// does not take all bytes, the connection keeps the rest and becomes congested.
    ///
    /// - Parameter outlet: the connection's ``Connection/outlet``.
    /// - Returns: true if the bytes were sent or kept; `false` if nothing was sent, for example because the connection
    ///   has ended.
    public func push(_ bytes: Span<UInt8>, to outlet: UInt64) -> Bool {
        guard let descriptor = outlets[outlet] else { return false }
        // The bytes are valid during the call, in which the kernel copies them.
        let sent = bytes.withUnsafeBufferPointer {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if sent == bytes.count { return true }
        // The socket is full or broken: the connection detects that too, and handles it.
        guard sent > 0, let connection = connections[OutletTable.slot(of: outlet)] else { return false }
        connection.write(bytes.extracting(droppingFirst: sent))
        return true
    }
}
