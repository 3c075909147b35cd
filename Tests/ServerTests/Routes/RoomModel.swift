/// A room held in memory as the specification has it, to ask for the page that the server should answer.
struct RoomModel {
    /// A place, as a client names it.
    enum Place: CustomStringConvertible {
        case seq(Int64)
        case time(String)
        case first, last

        /// As it stands in a query.
        var description: String {
            switch self {
            case .seq(let seq): String(seq)
            case .time(let time): time
            case .first: "first"
            case .last: "last"
            }
        }
    }

    /// What is asked for.
    enum Anchor {
        case newest
        case before(Place), after(Place), around(Place)
    }

    /// A page, as far as it is decided by the place and the limit.
    struct Page: Equatable {
        var seqs: [Int64]
        var hasBefore: Bool
        var hasAfter: Bool
    }

    /// When each message was stored, the first one's first.
    let times: [String]

    private var head: Int64 { Int64(times.count) }

    /// The page of at most `limit` messages.
    func page(_ anchor: Anchor, limit: Int) -> Page {
        let limit = Int64(limit)
        // A page is the seqs from `start` to before `end`.
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
            // Half of it before; what one side lacks the other side gives.
            start = min(self.start(of: place) - limit / 2, head + 1 - limit)
            start = max(start, 1)
            end = start + limit
        }
        start = min(max(start, 1), head + 1)
        end = max(min(end, head + 1), start)
        return Page(seqs: Array(start..<end), hasBefore: start > 1, hasAfter: end <= head)
    }

    /// The first seq at or after a place.
    private func start(of place: Place) -> Int64 {
        switch place {
        case .seq(let seq): min(max(seq, 1), head + 1)
        case .time(let time): Int64(times.firstIndex { $0 >= time } ?? times.count) + 1
        case .first: 1
        case .last: max(head, 1)
        }
    }

    /// The first seq after a place. A time lies between messages: nothing is at it.
    private func end(of place: Place) -> Int64 {
        switch place {
        case .seq(let seq): min(max(seq, 0), head) + 1
        case .time: start(of: place)
        case .first: min(head, 1) + 1
        case .last: head + 1
        }
    }
}
