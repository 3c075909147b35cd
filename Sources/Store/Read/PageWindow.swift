import Chat

/// The range of messages of a page in a room.
///
/// A page is the messages of `start ..< end`. They follow from the room's highest `seq` alone, because `seq` has no
/// gaps.
struct PageWindow: Equatable {
    /// The `seq` of the first message, or where it would be.
    let start: Int64
    /// The `seq` after the last message.
    let end: Int64

    /// The number of messages.
    var count: Int { Int(end - start) }

    /// True if there are messages before the page.
    var hasBefore: Bool { start > 1 }

    /// Returns true if there are messages after the page.
    func hasAfter(head: Int64) -> Bool { end <= head }
}

/// The bounds of a page in a room whose highest `seq` is not known yet: the last ``limit`` messages of
/// `first ..< past`, as far as they exist.
///
/// A position is a gap between two messages: `before` a `seq` is the gap in front of it, `after` a `seq` the gap behind
/// it.
struct PageBounds {
    /// The smallest `seq` that the page may have, at least 1.
    let first: Int64
    /// The `seq` after the largest one that the page may have.
    let past: Int64
    /// Maximum number of messages.
    let limit: Int

    /// The last messages of the room.
    static func newest(limit: Int) -> PageBounds { before(gap: .max, limit: limit) }

    /// The messages before a gap.
    static func before(gap: Int64, limit: Int) -> PageBounds {
        PageBounds(first: 1, past: max(1, gap), limit: limit)
    }

    /// The messages after a gap.
    static func after(gap: Int64, limit: Int) -> PageBounds {
        let first = max(1, gap)
        return PageBounds(first: first, past: first.addingUpTo(limit), limit: limit)
    }

    /// The messages around the one at `seq`, or around the next one if it does not exist. Near an end of the room the
    /// page extends further to the other side.
    static func around(_ seq: Int64, limit: Int) -> PageBounds {
        before(gap: max(1, max(1, seq) - Int64(limit) / 2).addingUpTo(limit), limit: limit)
    }

    /// Returns the page in a room with this highest `seq`.
    func window(head: Int64) -> PageWindow {
        let end = min(past, head + 1)
        return PageWindow(start: min(end, max(first, end - Int64(limit))), end: end)
    }
}

extension PageRequest.Anchor {
    /// Returns the bounds of a page at this anchor.
    ///
    /// - Parameter seq: Returns the `seq` of the anchor's place. For a time, that is the first message stored then or
    ///   later.
    func bounds(limit: Int, _ seq: (Place) throws -> Int64) rethrows -> PageBounds {
        switch self {
        case .newest: .newest(limit: limit)
        case .before(let place): .before(gap: try seq(place), limit: limit)
        // A time is already a gap between messages; a message itself is skipped.
        case .after(.time(let time)): .after(gap: try seq(.time(time)), limit: limit)
        case .after(let place): .after(gap: try seq(place).addingUpTo(1), limit: limit)
        case .around(let place): .around(try seq(place), limit: limit)
        }
    }
}

extension PageSlice {
    /// Creates the slice of a page.
    init(_ window: PageWindow, _ messages: [UInt8], _ state: RoomState, _ readState: ReadState? = nil) {
        self.init(
            messages: messages, count: window.count, firstSeq: window.count > 0 ? window.start : 0,
            lastSeq: window.count > 0 ? window.end - 1 : 0, hasBefore: window.hasBefore,
            hasAfter: window.hasAfter(head: state.head), state: state, readState: readState)
    }
}

extension Int64 {
    /// Adds a number, up to the largest integer.
    fileprivate func addingUpTo(_ other: Int) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(Int64(other))
        return overflows ? .max : sum
    }
}
