/// What the subscribers of one loop have seen of one room.
///
/// The order in which messages were first seen, by whichever subscriber, is the room's order; each subscriber is a
/// position in it. While a subscriber sees what others have seen, in the same order, a delivery costs one comparison
/// and takes no memory.
struct RoomLedger: Sendable {
    /// How far ahead of all seen before a number may be. A mark that was garbled must not cost gigabytes.
    static let window = 1 << 20

    /// The subscribers of this loop whose deliveries count for ``arrivals(of:)``.
    var subscribers = 0 {
        didSet { if subscribers > 0 { hasListeners = true } }
    }
    /// True if there ever was a subscriber.
    private(set) var hasListeners = false
    /// The numbers of the messages, in the order in which they were first seen.
    private(set) var order: [UInt32] = []
    /// For each number its index in `order`, or `unseen`.
    private var places: [UInt32] = []
    /// For each number how many subscribers have it.
    private var arrivals: [UInt32] = []

    private static let unseen = UInt32.max

    init() {}

    /// The number of subscribers that have the message.
    func arrivals(of number: Int) -> Int {
        number < arrivals.count ? Int(arrivals[number]) : 0
    }

    /// Returns whether any subscriber has the message.
    func hasSeen(_ number: Int) -> Bool {
        number < places.count && places[number] != Self.unseen
    }

    /// Where the message stands in the order, which it enters if it is new; nil if the number is out of bounds.
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

    /// Counts one more subscriber that has the message, which is in the order.
    ///
    /// - Returns: whether all subscribers have it now.
    mutating func arrived(_ number: Int) -> Bool {
        arrivals[number] += 1
        return Int(arrivals[number]) == subscribers
    }
}
