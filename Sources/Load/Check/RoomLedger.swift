/// The messages of one room that the subscribers of one loop have received.
///
/// The room's order is the order in which messages were first received by any subscriber. Each subscriber is a position
/// in it. As long as a subscriber receives the messages in that order, a delivery costs one comparison and no memory.
struct RoomLedger: Sendable {
    /// Maximum difference between a new number and the number of messages received so far. It keeps a garbled mark from
    /// allocating gigabytes.
    static let window = 1 << 20

    /// Number of subscribers of this loop that must get each message.
    var subscribers = 0 {
        didSet { if subscribers > 0 { hasListeners = true } }
    }
    /// True once the room has had a subscriber.
    private(set) var hasListeners = false
    /// The numbers of the messages, in the order in which they were first received.
    private(set) var order: [UInt32] = []
    /// The index in `order` of each number, or `unseen`.
    private var places: [UInt32] = []
    /// Number of subscribers that have each message.
    private var arrivals: [UInt32] = []

    private static let unseen = UInt32.max

    /// Returns true if any subscriber has the message.
    func hasSeen(_ number: Int) -> Bool {
        number < places.count && places[number] != Self.unseen
    }

    /// Returns the message's index in the order, and appends it if it is new. Returns nil if the number is out of
    /// bounds.
    mutating func place(of number: Int) -> Int? {
        if number >= places.count {
            guard number <= order.count + Self.window else { return nil }
            let more = max(number + 1 - places.count, max(64, places.count))
            places.append(contentsOf: repeatElement(Self.unseen, count: more))
            arrivals.append(contentsOf: repeatElement(0, count: more))
        }
        if places[number] == Self.unseen {
            places[number] = UInt32(order.count)
            order.append(UInt32(number))
        }
        return Int(places[number])
    }

    /// Counts one more subscriber that has the message, which must be in the order.
    ///
    /// - Returns: true if all subscribers now have it.
    mutating func arrived(_ number: Int) -> Bool {
        arrivals[number] += 1
        return Int(arrivals[number]) == subscribers
    }
}
