/// The order in which a feed visits its subscribers. After each publication, every subscriber is visited.
///
/// Subscribers are visited in rounds, from the first place to the last. Messages published during a round are sent in
/// the next one. A round over ten thousand subscribers takes a long time, and even longer while a storm of clients
/// arrives. The places in front therefore have their own rounds, which come first: clients that were there before the
/// storm get a message soon (scenario G of `scripts/compare`). Each round in front is followed by equally many visits
/// behind. So the places behind are visited even if messages arrive faster than they can be sent.
///
/// For example, with 2 of 6 places in front, one message is published at the beginning (a), and one after four visits
/// (b):
///
///     0a 1a 2a 3a  0b 1b  4ab 5ab  2b 3b 4- 5-
///
/// Places 4 and 5 get both at once, and nothing in the last round.
struct FeedRounds {
    /// Number of places in front.
    private let frontPlaces: Int
    /// The places of the next visits in front and behind; `nil` between rounds. Earlier places have been visited.
    private var frontPlace: Int?
    private var rearPlace: Int?
    /// True if something was published during the round, so that another one must follow.
    private var isFrontStale = false
    private var isRearStale = false
    /// Number of visits behind that are due before the next round in front.
    private var owed = 0

    /// Creates an order for a feed without published messages.
    init(frontPlaces: Int) {
        self.frontPlaces = frontPlaces
    }

    /// True if every subscriber has been visited.
    var areOver: Bool { frontPlace == nil && rearPlace == nil && !isFrontStale }

    /// Starts a round after something was published, or records that another round must follow.
    ///
    /// - Parameter subscribers: number of subscribers.
    /// - Returns: true if the visits start at once.
    mutating func publish(subscribers: Int) -> Bool {
        if rearPlace != nil { isRearStale = true } else if subscribers > frontPlaces { rearPlace = frontPlaces }
        guard frontPlace == nil, owed == 0 else {
            isFrontStale = true
            return false
        }
        frontPlace = 0
        return true
    }

    /// Returns the place of the next visit; `nil` at the end of the round.
    mutating func next(subscribers: Int) -> Int? {
        if let place = frontPlace {
            guard place < min(subscribers, frontPlaces) else { return nil }
            frontPlace = place + 1
            return place
        }
        guard let place = rearPlace, place < subscribers else { return nil }
        rearPlace = place + 1
        owed = max(0, owed - 1)
        return place
    }

    /// Ends the rounds that are complete, and starts those that are due. Call it after some visits.
    mutating func beginDueRounds(subscribers: Int) {
        if let place = frontPlace, place >= min(subscribers, frontPlaces) {
            frontPlace = nil
            owed = place
        }
        if let place = rearPlace, place >= subscribers {
            rearPlace = isRearStale && subscribers > frontPlaces ? frontPlaces : nil
            isRearStale = false
        }
        if rearPlace == nil { owed = 0 }
        if isFrontStale, frontPlace == nil, owed == 0 {
            frontPlace = 0
            isFrontStale = false
        }
    }

    /// Removes a place, so that no subscriber that moves misses a visit.
    ///
    /// - Parameters:
    ///   - place: the place of the subscriber to remove.
    ///   - subscribers: number of subscribers, including that one.
    /// - Returns: the place of the subscriber to move to `place`. The last subscriber moves to the returned place. If
    ///   it equals `place`, only the last subscriber moves.
    mutating func vacate(_ place: Int, subscribers: Int) -> Int {
        // If all places behind have been visited, the next place is the end, which moves by one.
        defer { rearPlace = rearPlace.map { min($0, subscribers - 1) } }
        if place < frontPlaces {
            if let next = frontPlace, place < next {
                frontPlace = next - 1
                return next - 1
            }
            // The last subscriber moves from behind to the front, and may not have been visited yet.
            if frontPlace == nil, rearPlace != nil { isFrontStale = true }
        } else if let next = rearPlace, place < next {
            rearPlace = next - 1
            return next - 1
        }
        return place
    }
}
