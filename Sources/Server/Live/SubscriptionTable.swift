import Chat
import Wire

/// The subscriptions of one socket, by room, served in turns.
struct SubscriptionTable {
    /// All subscriptions, in no particular order.
    private(set) var all: [Subscription] = []
    private var places: [RoomID: Int] = [:]
    private var turn = 0

    /// The number of subscriptions.
    var count: Int { all.count }

    /// The subscription to a room; `nil` if there is none.
    subscript(room: RoomID) -> Subscription? { places[room].map { all[$0] } }

    /// Adds a subscription to a room that has none.
    mutating func insert(_ subscription: Subscription) {
        assert(places[subscription.feed.room] == nil)
        places[subscription.feed.room] = all.count
        all.append(subscription)
    }

    /// Removes the subscription to a room in constant time. The last one takes its place.
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

    /// Returns the next subscription in turn: each one once in as many calls as there are subscriptions. The table must
    /// not be empty.
    mutating func next() -> Subscription {
        turn = turn + 1 < all.count ? turn + 1 : 0
        return all[turn]
    }
}
