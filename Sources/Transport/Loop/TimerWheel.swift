/// A timer wheel in ticks. Changing a deadline is a field write, and a tick costs only the entries that are due.
///
/// An entry is in the bucket of the tick at which it is to be checked next. A deadline that moves later does not move
/// the entry: it is inserted again when its bucket comes up. Most deadlines move later before they are reached, for
/// example with each request, so this makes them cheap.
///
/// The wheel has no clock: its owner passes the current tick.
struct TimerWheel<Entry> {
    private struct Slot {
        var entry: Entry
        var tick: Int
    }

    private var buckets: [[Slot]]
    private(set) var now: Int
    private(set) var count = 0

    /// Creates an empty wheel at tick `now` with buckets for `span` ticks. Entries further away stay for several
    /// rotations.
    init(now: Int = 0, span: Int = 512) {
        self.now = now
        buckets = Array(repeating: [], count: span)
    }

    var isEmpty: Bool { count == 0 }

    /// Schedules `entry` for `tick`, or for the next tick if that is later.
    mutating func insert(_ entry: Entry, at tick: Int) {
        let tick = max(tick, now + 1)
        buckets[tick % buckets.count].append(Slot(entry: entry, tick: tick))
        count += 1
    }

    /// Advances to `tick`.
    ///
    /// - Returns: the entries that are due, earlier buckets first.
    mutating func advance(to tick: Int) -> [Entry] {
        // After a long sleep each bucket is checked only once.
        if tick - now > buckets.count { now = tick - buckets.count }
        var due: [Entry] = []
        while now < tick {
            now += 1
            let index = now % buckets.count
            guard !buckets[index].isEmpty else { continue }
            let slots = exchange(&buckets[index], with: [])
            for slot in slots {
                if slot.tick <= now {
                    due.append(slot.entry)
                } else {
                    buckets[index].append(slot)
                }
            }
        }
        count -= due.count
        return due
    }

    /// Starts at `tick`. The wheel must be empty.
    mutating func restart(at tick: Int) {
        precondition(isEmpty)
        now = tick
    }
}
