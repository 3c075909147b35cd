import BackscrollTimeline
import Testing

@Suite("UTC offsets") struct UTCOffsetsTests {
    /// Berlin in 2026.
    let offsets = UTCOffsets(
        60,
        changes: [
            .init(time: 1_774_746_000_000, minutes: 120), .init(time: 1_792_890_000_000, minutes: 60),
        ])

    @Test(
        arguments: [
            (.min, 60), (0, 60), (1_774_745_999_999, 60), (1_774_746_000_000, 120), (1_792_889_999_999, 120),
            (1_792_890_000_000, 60), (.max, 60),
        ] as [(Int64, Int)])
    func `hold from their time on`(time: Int64, minutes: Int) {
        #expect(offsets.minutes(at: time) == minutes)
    }

    @Test func `may be given in any order, and the last of several at one time counts`() {
        let offsets = UTCOffsets(
            0, changes: [.init(time: 20, minutes: 3), .init(time: 10, minutes: 1), .init(time: 10, minutes: 2)])
        #expect(offsets.changes == [.init(time: 10, minutes: 2), .init(time: 20, minutes: 3)])
        #expect([9, 10, 19, 20].map { offsets.minutes(at: $0) } == [0, 2, 2, 3])
    }

    @Test(arguments: [(1441, 1440), (.max, 1440), (-1441, -1440), (.min, -1440)] as [(Int, Int)])
    func `are at most a day`(minutes: Int, is clamped: Int) {
        #expect(UTCOffsets(minutes).minutes == clamped)
        #expect(UTCOffsets(0, changes: [.init(time: 0, minutes: minutes)]).minutes(at: 0) == clamped)
    }

    @Test func `place each message under the day that its own clock showed`() throws {
        var timeline = TestTimeline(me: "alice", room: "lobby", utcOffsets: offsets)
        _ = timeline.handle(.open(at: .last))
        // 2026-06-15T22:30Z and 2026-11-15T22:30Z.
        let times: [Int64] = [1_781_562_600_000, 1_794_781_800_000]
        let messages = times.enumerated().map { index, time in
            TestMessage(seq: Int64(index) + 1, rev: Int64(index) + 1, createdMilliseconds: time)
        }
        _ = timeline.handle(
            .page(
                request: 1,
                try .init(messages: messages, hasBefore: false, hasAfter: false, head: 2, rev: 2, epoch: "e1")))
        #expect(timeline.keys == ["day/2026-06-16", "1", "day/2026-11-15", "2"])
        _ = timeline.handle(.utcOffsets(UTCOffsets(0)))
        #expect(timeline.keys == ["day/2026-06-15", "1", "day/2026-11-15", "2"])
    }
}
