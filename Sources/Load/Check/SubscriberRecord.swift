/// The messages that one subscriber has received, as a position in its room's order.
struct SubscriberRecord: Sendable {
    /// The subscriber's number in the run.
    let id: Int
    /// The room that it is subscribed to.
    let room: Int
    /// The position at which it started.
    let start: Int
    /// The current position in the room's order.
    var position: Int
    /// The deviations from the order; nil for most subscribers.
    var faults: Faults?

    /// Creates a subscriber that must receive everything after the first `start` messages.
    init(id: Int, room: Int, start: Int = 0) {
        self.id = id
        self.room = room
        self.start = start
        position = start
    }

    /// Number of messages of the room that it has received.
    var received: Int { position - start - (faults?.skippedCount ?? 0) }

    /// Wrong or reordered deliveries to a subscriber.
    struct Faults: Sendable {
        /// Places before the position whose messages have not arrived, in ascending order.
        var skipped: [Range<Int>] = []
        /// Number of messages that arrived again.
        var duplicates = 0
        /// Number of messages that arrived after later ones of the room's order.
        var late = 0

        var skippedCount: Int { skipped.reduce(0) { $0 + $1.count } }

        /// Records that the message of a skipped place has arrived.
        ///
        /// - Returns: false if the place was not skipped.
        mutating func fill(_ place: Int) -> Bool {
            guard let index = skipped.firstIndex(where: { $0.contains(place) }) else { return false }
            let range = skipped[index]
            let rest = [range.lowerBound..<place, place + 1..<range.upperBound].filter { !$0.isEmpty }
            skipped.replaceSubrange(index...index, with: rest)
            return true
        }
    }
}
