/// The order in which a feed visits its subscribers. After each publication, every subscriber is visited.
///
/// Subscribers are visited in rounds, from the first to the last. Messages published during a round are sent in
/// the next one. A round over ten thousand subscribers takes a long time, and even longer while a storm of clients
/// arrives. The subscribers in front therefore have their own rounds, which come first: clients that were there before
/// the storm get a message soon (scenario G of `scripts/compare`). Each round in front is followed by equally many visits
/// behind. So the subscribers behind are visited even if messages arrive faster than they can be sent.
///
/// For example, with 2 of 6 subscribers in front, one message is published at the beginning (a), and one after four visits
/// (b):
///
///     0a 1a 2a 3a  0b 1b  4ab 5ab  2b 3b 4- 5-
///
/// Subscribers 4 and 5 get both at once, and nothing in the last round.
struct FeedRounds {
    /// Number of subscribers in front.
    private let frontCount: Int
    /// The indices of the next visits in front and behind; `nil` between rounds. Earlier ones have been visited.
    private var frontIndex: Int?
    private var rearIndex: Int?
    /// True if something was published during the round, so that another one must follow.
    private var isFrontStale = false
    private var isRearStale = false
    /// Number of visits behind that are due before the next round in front.
    private var owed = 0

    /// Creates an order for a feed without published messages.
    init(frontCount: Int) {
        self.frontCount = frontCount
    }

    /// True if every subscriber has been visited.
    var areOver: Bool { frontIndex == nil && rearIndex == nil && !isFrontStale }

    /// Starts a round after something was published, or records that another round must follow.
    ///
    /// - Parameter subscribers: number of subscribers.
    /// - Returns: true if the visits start at once.
    mutating func publish(subscribers: Int) -> Bool {
        if rearIndex != nil { isRearStale = true } else if subscribers > frontCount { rearIndex = frontCount }
        guard frontIndex == nil, owed == 0 else {
            isFrontStale = true
            return false
        }
        frontIndex = 0
        return true
    }

    /// Returns the index of the next subscriber to visit; `nil` at the end of the round.
    mutating func next(subscribers: Int) -> Int? {
        if let index = frontIndex {
            guard index < min(subscribers, frontCount) else { return nil }
            frontIndex = index + 1
            return index
        }
        guard let index = rearIndex, index < subscribers else { return nil }
        rearIndex = index + 1
        owed = max(0, owed - 1)
        return index
    }

    /// Ends the rounds that are complete, and starts those that are due. Call it after some visits.
    mutating func beginDueRounds(subscribers: Int) {
        if let index = frontIndex, index >= min(subscribers, frontCount) {
            frontIndex = nil
            owed = index
        }
        if let index = rearIndex, index >= subscribers {
            rearIndex = isRearStale && subscribers > frontCount ? frontCount : nil
            isRearStale = false
        }
        if rearIndex == nil { owed = 0 }
        if isFrontStale, frontIndex == nil, owed == 0 {
            frontIndex = 0
            isFrontStale = false
        }
    }

    /// Removes a subscriber, so that none that moves misses a visit.
    ///
    /// - Parameters:
    ///   - index: the index of the subscriber to remove.
    ///   - subscribers: number of subscribers, including that one.
    /// - Returns: the index of the subscriber to move to `index`. The last subscriber moves to the returned index. If
    ///   it equals `index`, only the last subscriber moves.
    mutating func vacate(_ index: Int, subscribers: Int) -> Int {
        // If all behind have been visited, the next index is the end, which moves by one.
        defer { rearIndex = rearIndex.map { min($0, subscribers - 1) } }
        if index < frontCount {
            if let next = frontIndex, index < next {
                frontIndex = next - 1
                return next - 1
            }
            // The last subscriber moves from behind to the front, and may not have been visited yet.
            if frontIndex == nil, rearIndex != nil { isFrontStale = true }
        } else if let next = rearIndex, index < next {
            rearIndex = next - 1
            return next - 1
        }
        return index
    }
}
