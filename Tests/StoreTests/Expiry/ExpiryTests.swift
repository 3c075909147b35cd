import Testing

@testable import Store

/// Tests the value that decides when and where to search.
@Suite("The rounds of expiry")
struct ExpiryTests {
    private let start = ContinuousClock.now

    private func makeExpiry() -> Expiry {
        Expiry(
            Expiry.Limits(messages: 10, rooms: 4, pause: .milliseconds(250), interval: .seconds(600)), at: start)
    }

    @Test func `start at once, with the first rooms`() {
        let expiry = makeExpiry()
        #expect(expiry.next == start && expiry.room == 0)
        #expect(expiry.mostRooms == 4 && expiry.mostMessages == 10)
    }

    @Test func `continue after the pause, after the last room`() {
        var expiry = makeExpiry()
        #expect(expiry.made(Expiry.Step(lastRoom: 4), at: start) == nil)
        #expect(expiry.next == start + .milliseconds(250) && expiry.room == 4)
    }

    @Test func `that found nothing are followed by another after the interval`() {
        var expiry = makeExpiry()
        #expect(expiry.made(Expiry.Step(lastRoom: nil), at: start) == nil)
        #expect(expiry.next == start + .seconds(600) && expiry.room == 0)
    }

    @Test func `that may have left messages are followed by another after the pause, and report at the end`() {
        var expiry = makeExpiry()
        #expect(expiry.made(Expiry.Step(lastRoom: 3, expired: 10, hasMore: true), at: start) == nil)
        #expect(expiry.made(Expiry.Step(lastRoom: nil, expired: 5), at: start) == nil)
        #expect(expiry.next == start + .milliseconds(250) && expiry.room == 0)
        #expect(expiry.made(Expiry.Step(lastRoom: nil, expired: 2), at: start) == 17)
        #expect(expiry.next == start + .seconds(600))
        #expect(expiry.made(Expiry.Step(lastRoom: nil), at: start) == nil)
    }

    @Test func `retry a failed step room by room, and skip a room that fails again`() {
        var expiry = makeExpiry()
        #expect(expiry.made(Expiry.Step(lastRoom: 4), at: start) == nil)
        #expect(expiry.failed(6, at: start) == true)
        #expect(expiry.next == start + .milliseconds(250) && expiry.room == 4 && expiry.mostRooms == 1)
        #expect(expiry.made(Expiry.Step(lastRoom: 5, expired: 1), at: start) == nil)
        #expect(expiry.failed(6, at: start) == false)
        #expect(expiry.room == 6 && expiry.mostRooms == 4)
        #expect(expiry.made(Expiry.Step(lastRoom: nil), at: start) == 1)
        #expect(expiry.next == start + .seconds(600))
    }

    @Test func `stop until the interval is over if no room can be read`() {
        var expiry = makeExpiry()
        #expect(expiry.failed(nil, at: start) == true)
        #expect(expiry.next == start + .seconds(600) && expiry.mostRooms == 4)
    }
}
