/// A bounded set of connections whose clients send requests repeatedly. Long turns also read them between other
/// sockets.
///
/// When thousands of sockets close at once, a turn takes long. A request that arrives meanwhile is not among the
/// sockets that were ready at its start, so it would wait for the next turn.
struct Regulars {
    /// Maximum number of connections. A further one replaces the oldest.
    static let capacity = 256

    private var places: [(slot: Int, id: UInt64)] = []
    private var next = 0

    /// The connections, some of which may have closed.
    var all: [(slot: Int, id: UInt64)] { places }

    /// Adds a connection.
    ///
    /// - Returns: the connection that it replaced.
    mutating func add(slot: Int, id: UInt64) -> (slot: Int, id: UInt64)? {
        guard places.count == Self.capacity else {
            places.append((slot, id))
            return nil
        }
        defer { next = (next + 1) % Self.capacity }
        return exchange(&places[next], with: (slot, id))
    }
}
