import Testing

@testable import Store

/// The value that says when and where to look.
@Suite("The rounds in which messages expire")
struct ExpiryTests {
    private let start = ContinuousClock.now

    private func makeExpiry() -> Expiry {
        Expiry(
            Expiry.Limits(messages: 10, rooms: 4, pause: .milliseconds(250), interval: .seconds(600)), at: start)
    }

    @Test("The first step is due at once, and goes over the first rooms")
    func first() {
        let expiry = makeExpiry()
        #expect(expiry.next == start && expiry.room == 0)
        #expect(expiry.mostRooms == 4 && expiry.mostMessages == 10)
    }

    @Test("A step follows the one before after the pause, and goes on where that has ended")
    func goesOn() {
        var expiry = makeExpiry()
        #expect(expiry.made(Expiry.Step(lastRoom: 4), at: start) == nil)
        #expect(expiry.next == start + .milliseconds(250) && expiry.room == 4)
    }

    @Test("A round that has found nothing is followed by another after the interval")
    func nothing() {
        var expiry = makeExpiry()
        #expect(expiry.made(Expiry.Step(lastRoom: nil), at: start) == nil)
        #expect(expiry.next == start + .seconds(600) && expiry.room == 0)
    }

    @Test("A round that may have left something is followed by another after the pause, and all is told at the end")
    func more() {
        var expiry = makeExpiry()
        #expect(expiry.made(Expiry.Step(lastRoom: 3, expired: 10, hasMore: true), at: start) == nil)
        #expect(expiry.made(Expiry.Step(lastRoom: nil, expired: 5), at: start) == nil)
        #expect(expiry.next == start + .milliseconds(250) && expiry.room == 0)
        #expect(expiry.made(Expiry.Step(lastRoom: nil, expired: 2), at: start) == 17)
        #expect(expiry.next == start + .seconds(600))
        #expect(expiry.made(Expiry.Step(lastRoom: nil), at: start) == nil)
    }

    @Test("The rooms of a step that fails are asked one by one, and the one that fails again is left out in that round")
    func failing() {
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

    @Test("Where no room can be asked, nothing is tried until the interval is over")
    func unreadable() {
        var expiry = makeExpiry()
        #expect(expiry.failed(nil, at: start) == true)
        #expect(expiry.next == start + .seconds(600) && expiry.mostRooms == 4)
    }
}
