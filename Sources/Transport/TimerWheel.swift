/// Deadlines of many entries, in ticks: setting one is a field write, and a tick costs only the entries that are due.
///
/// An entry sits in the bucket of the tick at which it is to be looked at next. A deadline that moves later is not
/// moved in the wheel: when its bucket comes up, the entry is put back. Most deadlines move later all the time (each
/// byte received moves one), so this is what makes them free.
///
/// The wheel holds no clock: whoever owns it says what tick it is.
struct TimerWheel<Entry> {
    private struct Slot {
        var entry: Entry
        var tick: Int
    }

    private var buckets: [[Slot]]
    private(set) var now: Int
    private(set) var count = 0

    /// An empty wheel at tick `now` with buckets for `span` ticks; entries further away go round more than once.
    init(now: Int = 0, span: Int = 512) {
        self.now = now
        buckets = Array(repeating: [], count: span)
    }

    var isEmpty: Bool { count == 0 }

    /// Has `entry` looked at when `tick` comes, the next one at the earliest.
    mutating func insert(_ entry: Entry, at tick: Int) {
        let tick = max(tick, now + 1)
        buckets[tick % buckets.count].append(Slot(entry: entry, tick: tick))
        count += 1
    }

    /// Moves on to `tick`.
    ///
    /// - Returns: the entries whose tick has come, earlier buckets first.
    mutating func advance(to tick: Int) -> [Entry] {
        // After a long sleep each bucket needs to be looked at once only.
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

    /// Forgets every entry and starts at `tick`.
    mutating func restart(at tick: Int) {
        precondition(isEmpty)
        now = tick
    }
}
