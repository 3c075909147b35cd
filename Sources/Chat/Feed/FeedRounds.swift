/// The order in which a feed visits its subscribers. After each publication, every subscriber is visited.
///
/// Subscribers are visited in rounds, from the first to the last. Messages published during a round are sent in it to
/// those not visited yet, and to the others in the next one, which follows at once.
///
/// The oldest subscribers have no rounds of their own. While ten thousand clients reconnect (scenario G of
/// `scripts/compare`) that would make no difference to them, because new clients are accepted at a limited rate.
struct FeedRounds {
    /// The index of the next visit; `nil` between rounds. Earlier ones have been visited.
    private var index: Int?
    /// True if something was published during the round, so that another one must follow.
    private var isStale = false

    /// True if every subscriber has been visited.
    var areOver: Bool { index == nil }

    /// Starts a round after something was published, or records that another one must follow.
    ///
    /// - Returns: true if the visits start at once.
    mutating func publish() -> Bool {
        guard index == nil else {
            isStale = true
            return false
        }
        index = 0
        return true
    }

    /// Returns the index of the next subscriber to visit; `nil` at the end of the round.
    mutating func next(subscribers: Int) -> Int? {
        guard let index, index < subscribers else { return nil }
        self.index = index + 1
        return index
    }

    /// Ends the round if it is complete, and starts the next if one is due. Call it after some visits.
    mutating func beginDueRound(subscribers: Int) {
        guard let index, index >= subscribers else { return }
        self.index = isStale ? 0 : nil
        isStale = false
    }

    /// Removes a subscriber, so that none that moves misses a visit.
    ///
    /// - Returns: the index of the subscriber to move to `index`. The last subscriber moves to the returned index. If
    ///   it equals `index`, only the last subscriber moves.
    mutating func vacate(_ index: Int) -> Int {
        guard let next = self.index, index < next else { return index }
        self.index = next - 1
        return next - 1
    }
}
