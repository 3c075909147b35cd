/// A room in memory that follows the specification, to compute the page that the server must answer.
struct RoomModel {
    /// A place, as clients write it.
    enum Place: CustomStringConvertible {
        case seq(Int64)
        case time(String)
        case first, last

        /// The place in a query.
        var description: String {
            switch self {
            case .seq(let seq): String(seq)
            case .time(let time): time
            case .first: "first"
            case .last: "last"
            }
        }
    }

    /// The anchor of a page.
    enum Anchor {
        case newest
        case before(Place), after(Place), around(Place)
    }

    /// The part of a page that follows from the place and the limit.
    struct Page: Equatable {
        var seqs: [Int64]
        var hasBefore: Bool
        var hasAfter: Bool
    }

    /// The time of each message, in order.
    let times: [String]

    private var head: Int64 { Int64(times.count) }

    /// Returns the page of at most `limit` messages.
    func page(_ anchor: Anchor, limit: Int) -> Page {
        let limit = Int64(limit)
        // The page has the seqs from `start` up to, but not including, `end`.
        var start: Int64
        var end: Int64
        switch anchor {
        case .newest:
            end = head + 1
            start = end - limit
        case .before(let place):
            end = self.start(of: place)
            start = end - limit
        case .after(let place):
            start = self.end(of: place)
            end = start + limit
        case .around(let place):
            // Half of the page lies before the place. If one side is short, the other fills up.
            start = min(self.start(of: place) - limit / 2, head + 1 - limit)
            start = max(start, 1)
            end = start + limit
        }
        start = min(max(start, 1), head + 1)
        end = max(min(end, head + 1), start)
        return Page(seqs: Array(start..<end), hasBefore: start > 1, hasAfter: end <= head)
    }

    /// Returns the first seq at or after a place.
    private func start(of place: Place) -> Int64 {
        switch place {
        case .seq(let seq): min(max(seq, 1), head + 1)
        case .time(let time): Int64(times.firstIndex { $0 >= time } ?? times.count) + 1
        case .first: 1
        case .last: max(head, 1)
        }
    }

    /// Returns the first seq after a place. A time lies between messages, so no message is at it.
    private func end(of place: Place) -> Int64 {
        switch place {
        case .seq(let seq): min(max(seq, 0), head) + 1
        case .time: start(of: place)
        case .first: min(head, 1) + 1
        case .last: head + 1
        }
    }
}
