import Wire

/// The range of messages of a page, computed from the room's highest `seq` alone, because `seq` has no gaps.
///
/// A page is the messages of `start ..< end`. A position is a gap between two messages: `before` a `seq` is the gap in
/// front of it, `after` a `seq` the gap behind it.
struct PageWindow: Equatable {
    /// The `seq` of the first message, or where it would be.
    let start: Int64
    /// The `seq` after the last message.
    let end: Int64

    /// Returns the last `limit` messages.
    static func newest(head: Int64, limit: Int) -> PageWindow {
        before(gap: head + 1, head: head, limit: limit)
    }

    /// Returns the `limit` messages before a gap.
    static func before(gap: Int64, head: Int64, limit: Int) -> PageWindow {
        let end = min(max(1, gap), head + 1)
        return PageWindow(start: max(1, end - Int64(limit)), end: end)
    }

    /// Returns the `limit` messages after a gap.
    static func after(gap: Int64, head: Int64, limit: Int) -> PageWindow {
        let start = min(max(1, gap), head + 1)
        return PageWindow(start: start, end: min(head + 1, start + Int64(limit)))
    }

    /// Returns `limit` messages around the one at `seq`, or around the next one if it does not exist. Near an end of
    /// the room the page extends further to the other side.
    static func around(_ seq: Int64, head: Int64, limit: Int) -> PageWindow {
        let middle = min(max(1, seq), head + 1)
        let start = max(1, middle - Int64(limit) / 2)
        let end = min(head + 1, start + Int64(limit))
        return PageWindow(start: max(1, end - Int64(limit)), end: end)
    }

    /// The number of messages.
    var count: Int { Int(end - start) }

    /// True if there are messages before the page.
    var hasBefore: Bool { start > 1 }

    /// Returns true if there are messages after the page.
    func hasAfter(head: Int64) -> Bool { end <= head }
}
