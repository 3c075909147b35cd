import TestSupport
import Testing
import Wire

@testable import Chat

@Suite("The rate of typing notices")
struct TypingRateTests {
    private let alice = try! UserID("alice")
    private let bob = try! UserID("bob")
    private let red = try! RoomID("red")
    private let green = try! RoomID("green")
    private let start = ContinuousClock.Instant.now

    @Test func `admits one notice for each user and room in an interval`() {
        let rate = TypingRate()
        func admits(_ user: UserID, _ room: RoomID, _ milliseconds: Int) -> Bool {
            rate.admits(user, in: room, audience: 2, at: start + .milliseconds(milliseconds))
        }
        #expect(admits(alice, red, 0))
        #expect(!admits(alice, red, 0))
        #expect(admits(bob, red, 0))
        #expect(admits(alice, green, 500))
        #expect(!admits(alice, red, 1999))
        #expect(admits(alice, red, 2000))
        #expect(!admits(alice, green, 2499))
        #expect(admits(alice, green, 2500))
        #expect(!admits(alice, red, 3999))
        #expect(!admits(alice, green, 4499))
        #expect(admits(alice, red, 4499))
        #expect(admits(alice, green, 60_000))
        #expect(!admits(alice, green, 61_999))
        #expect(admits(alice, green, 62_000))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `admits a notice once the interval since the last one has passed, at any times`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let rate = TypingRate()
        var last: [UserID: Int] = [:]
        var now = 0
        for _ in 1...500 {
            now += Int.random(in: 0...700, using: &generator)
            let user = Bool.random(using: &generator) ? alice : bob
            let isFree = last[user].map { now - $0 >= 2000 } ?? true
            #expect(rate.admits(user, in: red, audience: 2, at: start + .milliseconds(now)) == isFree)
            if isFree { last[user] = now }
        }
    }

    @Test func `bounds the frames that a room's notices cause`() throws {
        let rate = TypingRate()
        let users = try (0..<100).map { try UserID("user\($0)") }
        func admitted(_ room: RoomID, _ audience: Int, at seconds: Int) -> Int {
            users.count { rate.admits($0, in: room, audience: audience, at: start + .seconds(seconds)) }
        }
        #expect(admitted(red, 10_000, at: 0) == 2)
        #expect(admitted(green, 100, at: 0) == 100)
        #expect(admitted(red, 1_000_000, at: 2) == 1, "one is always admitted")
        #expect(admitted(red, 2000, at: 4) == 10)
    }
}
