/// Which of a feed's subscribers is visited next, so that each is visited after everything that is published.
///
/// Subscribers are visited in rounds, from the first seat to the last; what is published in the middle of a round is brought
/// in the next one. In a room of ten thousand a round takes 50 ms, and while a storm of clients comes in, 200. So the
/// seats in front have rounds of their own, which go first: those who were there before the storm hear of a message within
/// moments. So that the seats behind them are not forgotten where messages come faster than they can be brought, a round
/// in front is followed by as many visits behind as it took.
///
/// For example, with 2 of 6 seats in front, a message that is published at the beginning (a), and one when four seats have
/// been visited (b):
///
///     0a 1a 2a 3a  0b 1b  4ab 5ab  2b 3b 4- 5-
///
/// Seats 4 and 5 get both at once, and have nothing to get in the last round.
struct FeedRounds {
    /// The number of seats that are in front.
    private let frontSeats: Int
    /// The place of the next visit in front, and behind; `nil` between rounds. Those before it have been visited.
    private var frontPlace: Int?
    private var rearPlace: Int?
    /// True if something was published that the round has not brought to everybody, so that another one follows.
    private var isFrontStale = false
    private var isRearStale = false
    /// The number of visits that are due behind before there may be another round in front.
    private var owed = 0

    /// Nothing has been published.
    init(frontSeats: Int) {
        self.frontSeats = frontSeats
    }

    /// True if everybody has been visited.
    var areOver: Bool { frontPlace == nil && rearPlace == nil && !isFrontStale }

    /// Something has been published for all of the seats.
    ///
    /// - Returns: whether it is brought to the first of them at once.
    mutating func publish(seats: Int) -> Bool {
        if rearPlace != nil { isRearStale = true } else if seats > frontSeats { rearPlace = frontSeats }
        guard frontPlace == nil, owed == 0 else {
            isFrontStale = true
            return false
        }
        frontPlace = 0
        return true
    }

    /// The place of the next visit; `nil` when the round is at its end.
    mutating func next(seats: Int) -> Int? {
        if let place = frontPlace {
            guard place < min(seats, frontSeats) else { return nil }
            frontPlace = place + 1
            return place
        }
        guard let place = rearPlace, place < seats else { return nil }
        rearPlace = place + 1
        owed = max(0, owed - 1)
        return place
    }

    /// Ends the rounds that are at their end, and begins those that are due. Call it after some visits.
    mutating func beginDueRounds(seats: Int) {
        if let place = frontPlace, place >= min(seats, frontSeats) {
            frontPlace = nil
            owed = place
        }
        if let place = rearPlace, place >= seats {
            rearPlace = isRearStale && seats > frontSeats ? frontSeats : nil
            isRearStale = false
        }
        if rearPlace == nil { owed = 0 }
        if isFrontStale, frontPlace == nil, owed == 0 {
            frontPlace = 0
            isFrontStale = false
        }
    }

    /// Somebody leaves. Whoever takes the seat must not miss a visit by that.
    ///
    /// - Parameters:
    ///   - place: the seat that becomes free.
    ///   - seats: how many there are with it.
    /// - Returns: the place of the one who is to move there, and whose own seat the last one takes; or `place` again when
    ///   the last one takes it.
    mutating func vacate(_ place: Int, seats: Int) -> Int {
        // Where all have been visited, one fewer has.
        defer { rearPlace = rearPlace.map { min($0, seats - 1) } }
        if place < frontSeats {
            if let next = frontPlace, place < next {
                frontPlace = next - 1
                return next - 1
            }
            // The last one comes to the front from behind, where it has perhaps not been visited yet.
            if frontPlace == nil, rearPlace != nil { isFrontStale = true }
        } else if let next = rearPlace, place < next {
            rearPlace = next - 1
            return next - 1
        }
        return place
    }
}
