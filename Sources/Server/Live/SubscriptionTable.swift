import Chat
import Wire

/// The subscriptions of one socket: found by room, and served in turns.
struct SubscriptionTable {
    /// All of them, in no order that matters.
    private(set) var all: [Subscription] = []
    private var places: [RoomID: Int] = [:]
    private var turn = 0

    /// How many there are.
    var count: Int { all.count }

    /// The subscription to a room, if there is one.
    subscript(room: RoomID) -> Subscription? { places[room].map { all[$0] } }

    /// Takes in the subscription to a room that has none.
    mutating func insert(_ subscription: Subscription) {
        assert(places[subscription.feed.room] == nil)
        places[subscription.feed.room] = all.count
        all.append(subscription)
    }

    /// Takes out the subscription to a room, in constant time: the last one takes its place.
    @discardableResult
    mutating func remove(_ room: RoomID) -> Subscription? {
        guard let place = places.removeValue(forKey: room) else { return nil }
        let removed = all[place]
        let last = all.removeLast()
        if last !== removed {
            all[place] = last
            places[last.feed.room] = place
        }
        return removed
    }

    /// Whose turn it is: each one's once in as many calls as there are subscriptions. There must be one.
    mutating func next() -> Subscription {
        turn = turn + 1 < all.count ? turn + 1 : 0
        return all[turn]
    }
}
