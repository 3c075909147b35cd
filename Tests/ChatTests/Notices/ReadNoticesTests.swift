import Testing
import Wire

@testable import Chat

@Suite("Read notices")
struct ReadNoticesTests {
    private func told(_ notices: ReadNotices, audience: Int = 1) -> [String] {
        notices.flush { _ in audience }.map { "\($0.room) \($0.user) \($0.seq)" }.sorted()
    }

    @Test func `carry each user's latest mark in a room, and need one flush`() throws {
        let notices = ReadNotices()
        let (red, green) = (try RoomID("red"), try RoomID("green"))
        let (alice, bob) = (try UserID("alice"), try UserID("bob"))
        #expect(notices.interval == .seconds(1))
        #expect(told(notices) == [])
        #expect(notices.moved(alice, in: red, to: 3))
        #expect(!notices.moved(alice, in: red, to: 7))
        #expect(!notices.moved(alice, in: red, to: 5))
        #expect(!notices.moved(bob, in: red, to: 2))
        #expect(!notices.moved(alice, in: green, to: 1))
        #expect(told(notices) == ["green alice 1", "red alice 7", "red bob 2"])
        #expect(told(notices) == [])
        #expect(notices.moved(alice, in: red, to: 8))
        #expect(told(notices) == ["red alice 8"])
    }

    @Test func `cause a bounded number of frames in a large room, but always allow one notice`() throws {
        let notices = ReadNotices()
        let room = try RoomID("hall")
        for (audience, count) in [(0, 1000), (10, 1000), (2000, 10), (20_000, 1), (1_000_000, 1)] {
            for number in 0..<1000 { _ = notices.moved(try UserID("u\(number)"), in: room, to: 1) }
            #expect(told(notices, audience: audience).count == count)
        }
        #expect(ReadNotices.framesPerRoom == 20_000)
    }
}
