import Wire

/// Which messages a page has: arithmetic on the room's head, because `seq` has no holes.
///
/// A page is the messages of `start ..< end`. Places are taken as gaps between messages: a `seq` for `before` is the
/// gap in front of it, for `after` the gap behind it.
struct PageWindow: Equatable {
    /// The first message's `seq`, or where it would be.
    let start: Int64
    /// The `seq` behind the last message.
    let end: Int64

    /// The page of `limit` messages at the end.
    static func newest(head: Int64, limit: Int) -> PageWindow {
        before(gap: head + 1, head: head, limit: limit)
    }

    /// The page of `limit` messages that ends at a gap.
    static func before(gap: Int64, head: Int64, limit: Int) -> PageWindow {
        let end = min(max(1, gap), head + 1)
        return PageWindow(start: max(1, end - Int64(limit)), end: end)
    }

    /// The page of `limit` messages that starts at a gap.
    static func after(gap: Int64, head: Int64, limit: Int) -> PageWindow {
        let start = min(max(1, gap), head + 1)
        return PageWindow(start: start, end: min(head + 1, start + Int64(limit)))
    }

    /// The page of `limit` messages with the one at `seq` in the middle, or the next one after it. At an end of the room
    /// it is filled up from the other side.
    static func around(_ seq: Int64, head: Int64, limit: Int) -> PageWindow {
        let middle = min(max(1, seq), head + 1)
        let start = max(1, middle - Int64(limit) / 2)
        let end = min(head + 1, start + Int64(limit))
        return PageWindow(start: max(1, end - Int64(limit)), end: end)
    }

    /// The number of messages that it has.
    var count: Int { Int(end - start) }

    /// True if there are messages before this place.
    var hasBefore: Bool { start > 1 }

    /// Returns whether there are messages after this place.
    func hasAfter(head: Int64) -> Bool { end <= head }
}
