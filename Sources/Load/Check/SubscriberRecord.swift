/// What one subscriber has seen of its room, as a position in the room's order.
struct SubscriberRecord: Sendable {
    /// The subscriber's number in the run.
    let id: Int
    /// The room it listens to.
    let room: Int
    /// How much of the room's order lay behind it when it came.
    let start: Int
    /// How much of the room's order lies behind it.
    var position: Int
    /// What went wrong; most subscribers have none.
    var faults: Faults?

    /// A subscriber that has seen nothing, and is to see what comes behind the first `start` messages.
    init(id: Int, room: Int, start: Int = 0) {
        self.id = id
        self.room = room
        self.start = start
        position = start
    }

    /// The number of messages of the room it has got.
    var received: Int { position - start - (faults?.skippedCount ?? 0) }

    /// What a subscriber saw that it should not have seen, or in another order.
    struct Faults: Sendable {
        /// Places before the position whose messages have not come, ascending.
        private(set) var skipped: [Range<Int>] = []
        /// Messages that came again.
        var duplicates = 0
        /// Messages that came after others which the room's order has behind them.
        var late = 0

        /// The number of places that were skipped.
        var skippedCount: Int { skipped.reduce(0) { $0 + $1.count } }

        /// Notes that the places were passed over.
        mutating func skip(_ places: Range<Int>) {
            skipped.append(places)
        }

        /// Notes that the message of a skipped place has come.
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
