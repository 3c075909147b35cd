/// The user's offsets from UTC, which may change with time: a day line needs the one that was in force at its time.
public struct UTCOffsets: Hashable, Sendable {
    /// An offset that begins at a time.
    public struct Change: Hashable, Sendable {
        /// The time at which the offset begins, in milliseconds since 1970.
        public let time: Int64
        /// The offset in minutes east of UTC.
        public let minutes: Int

        /// Creates a change. Offsets beyond 24 hours are clamped.
        public init(time: Int64, minutes: Int) {
            self.time = time
            self.minutes = UTCOffsets.clamped(minutes)
        }
    }

    /// The offset before the first change, in minutes east of UTC.
    public let minutes: Int
    /// The changes by ascending time.
    public let changes: [Change]

    /// Creates the offsets of a time zone.
    ///
    /// - Parameters:
    ///   - minutes: The offset before the first change, in minutes east of UTC; at most 24 hours either way.
    ///   - changes: The changes, in any order. Of several at one time the last counts.
    public init(_ minutes: Int, changes: [Change] = []) {
        self.minutes = Self.clamped(minutes)
        let sorted = changes.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
        self.changes = sorted.indices.filter { index in
            index + 1 == sorted.count || sorted[index + 1].element.time != sorted[index].element.time
        }.map { sorted[$0].element }
    }

    /// Returns the offset in force at a time in milliseconds since 1970, in minutes east of UTC.
    public func minutes(at time: Int64) -> Int {
        changes.last { $0.time <= time }?.minutes ?? minutes
    }

    /// Returns the number of days from 1970 to a time in milliseconds, by the user's clock at that time. Times outside
    /// the calendar, some 270,000 years away, are clamped.
    func day(of time: Int64) -> Int64 {
        let bound: Int64 = 8_000_000_000_000_000
        let local = min(max(time, -bound), bound) + Int64(minutes(at: time)) * 60_000
        return local >= 0 ? local / 86_400_000 : (local - 86_399_999) / 86_400_000
    }

    private static func clamped(_ minutes: Int) -> Int {
        min(max(minutes, -1440), 1440)
    }
}
