import Chat
import Wire

/// Computes a room's pages by counting through a list of its messages.
struct PageModel {
    /// The time of each message in milliseconds; the first one is `seq` 1.
    let times: [Int64]

    struct Page: Equatable {
        var seqs: [Int64]
        var hasBefore: Bool
        var hasAfter: Bool
    }

    private var seqs: [Int64] { times.indices.map { Int64($0 + 1) } }

    func page(_ anchor: PageRequest.Anchor, limit: Int) -> Page {
        let seqs = seqs
        switch anchor {
        case .newest:
            return page(of: seqs.suffix(limit), before: seqs.dropLast(limit), after: [])
        case .before(let place):
            let older = seqs.filter { isBefore($0, place) }
            return page(
                of: older.suffix(limit), before: older.dropLast(limit), after: seqs.filter { !isBefore($0, place) })
        case .after(let place):
            let newer = seqs.filter { isAfter($0, place) }
            return page(
                of: newer.prefix(limit), before: seqs.filter { !isAfter($0, place) }, after: newer.dropFirst(limit))
        case .around(let place):
            var older = seqs.filter { isBefore($0, place) }
            var newer = seqs.filter { !isBefore($0, place) }
            var taken: [Int64] = []
            // Half of the page from the older side, then newer messages, then more older ones.
            while taken.count < limit / 2, let next = older.popLast() { taken.insert(next, at: 0) }
            while taken.count < limit, !newer.isEmpty { taken.append(newer.removeFirst()) }
            while taken.count < limit, let next = older.popLast() { taken.insert(next, at: 0) }
            return page(of: taken[...], before: older[...], after: newer)
        }
    }

    private func page(of taken: ArraySlice<Int64>, before: ArraySlice<Int64>, after: some Collection) -> Page {
        Page(seqs: Array(taken), hasBefore: !before.isEmpty, hasAfter: !after.isEmpty)
    }

    private func page(of taken: ArraySlice<Int64>, before: [Int64], after: some Collection) -> Page {
        page(of: taken, before: before[...], after: after)
    }

    private func isBefore(_ seq: Int64, _ place: Place) -> Bool {
        switch place {
        case .seq(let other): seq < other
        case .time(let time): times[Int(seq) - 1] < time.milliseconds
        case .first: seq < 1
        case .last, .unread, .mention: seq < times.count
        case .read: seq < 0
        }
    }

    private func isAfter(_ seq: Int64, _ place: Place) -> Bool {
        switch place {
        case .seq(let other): seq > other
        // A time lies between messages.
        case .time: !isBefore(seq, place)
        case .first: seq > 1
        case .last, .unread, .mention: seq > times.count
        case .read: seq > 0
        }
    }
}
