import BackscrollTimeline

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension UTCOffsets {
    /// Time in milliseconds between two looks at a zone's offset. No zone has changed twice within it.
    private static let step: Int64 = 14 * 24 * 3600 * 1000
    /// The first time whose offset is looked up: 2000-01-01. Earlier messages have its offset.
    private static let first: Int64 = 946_684_800_000
    /// Time after the present for which the offsets are looked up: two years.
    private static let ahead: Int64 = 2 * 365 * 24 * 3600 * 1000

    /// Looks up the offsets of a time zone, from the year 2000 until two years after a time in milliseconds since 1970.
    init(of zone: TimeZone, at now: Int64) {
        func minutes(_ time: Int64) -> Int {
            zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time) / 1000)) / 60
        }
        var changes: [Change] = []
        var (time, offset) = (Self.first, minutes(Self.first))
        let initial = offset
        while time < now + Self.ahead {
            let next = time + Self.step
            let later = minutes(next)
            if later != offset {
                // The change is the first minute of the step that has the later offset.
                var (before, after) = (time / 60_000, next / 60_000)
                while after - before > 1 {
                    let middle = (before + after) / 2
                    if minutes(middle * 60_000) == later { after = middle } else { before = middle }
                }
                changes.append(Change(time: after * 60_000, minutes: later))
            }
            (time, offset) = (next, later)
        }
        self.init(initial, changes: changes)
    }
}
