import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The manners of a room")
struct RoomMannersTests {
    private let clock = TestClock(1_700_000_000_000)

    private func makeLog() throws -> TestLog {
        let log = try TestLog { [clock] in $0.clock = { clock.now } }
        try log.send(.init(id: "1"))
        try log.send(.init(sender: "bob", id: "1"))
        try log.join("lobby", as: "bob")
        return log
    }

    private func set(_ settings: RoomSettings, _ log: TestLog, by user: String = "alice") throws {
        _ = try log.change(.set(settings), by: user).get()
    }

    @Test func `are all among those that tests set`() {
        for (name, value) in Mirror(reflecting: RoomSettings.every).children {
            #expect(Mirror(reflecting: value).children.count == 1, "\(name ?? "") is nil")
        }
        let new = Mirror(reflecting: RoomManners()).children.map { "\($0.value)" }
        for (every, new) in zip(Mirror(reflecting: RoomManners.every).children, new) {
            #expect("\(every.value)" != new, "\(every.label ?? "") is that of a new room")
        }
    }

    @Test func `are read with the room, and stay until they are changed, also after a restart`() throws {
        var log = try makeLog()
        #expect(try log.summary(for: "bob").manners == RoomManners())
        var settings = RoomSettings.every
        settings.visibility = nil
        try set(settings, log)
        for _ in 0..<2 {
            #expect(try log.summary(for: "bob").manners == .every)
            #expect(try log.summary(for: nil).manners == .every)
            #expect(try log.inbox(of: "bob").rooms.map(\.summary.manners) == [.every])
            #expect(throws: Problem.postingRestricted) { try log.send(.init(sender: "bob")) }
            try set(RoomSettings(title: "The lobby"), log)
            log = try log.reopened { [clock] in $0.clock = { clock.now } }
        }
        #expect(throws: Problem.notAnOwner) { try set(RoomSettings(posting: .members), log, by: "bob") }
        try set(RoomSettings(posting: .members), log)
        try set(RoomSettings(slowSeconds: 60), log)
        try log.send(.init(sender: "bob"))
        log = try log.reopened { [clock] in $0.clock = { clock.now } }
        #expect(throws: Problem.slowMode(retryAfter: 60)) { try log.send(.init(sender: "bob")) }
        try set(
            RoomSettings(pinning: .owners, slowSeconds: 0, keepDays: 0, avatar: "", data: [], isSearchable: true), log)
        #expect(try log.summary(for: "bob").manners == RoomManners())
        log.close()
        try expectSound(log.path)
    }

    @Test func `may restrict posting to owners and admins; others may still repeat a send, and change messages`() throws
    {
        let log = try makeLog()
        try set(RoomSettings(posting: .owners), log)
        for sender in ["bob", "stranger"] {
            #expect(throws: Problem.postingRestricted) { try log.send(.init(sender: sender, id: "2")) }
        }
        #expect(try !log.send(.init(sender: "bob", id: "1")).isNew)
        try log.edit(2, "changed", as: "bob")
        try log.react(to: 1, as: "bob")
        try log.read(to: 1, as: "bob")
        #expect(try log.send(.init()).seq == 3)
        let admins = try log.submission(.send(Draft(content: Content(text: "x"))), by: "root", isAdmin: true)
        #expect(try log.outcome(admins).get().seq == 4)
        _ = try log.change(.setMember(UserID("bob"), .owner), by: "alice").get()
        #expect(try log.send(.init(sender: "bob")).seq == 5)
        _ = try log.change(.setMember(UserID("bob"), .member), by: "alice").get()
        #expect(throws: Problem.postingRestricted) { try log.send(.init(sender: "bob")) }
        try set(RoomSettings(posting: .members), log)
        #expect(try log.send(.init(sender: "bob")).seq == 6)
    }

    @Test func `may make each user but owners wait between two messages`() throws {
        let log = try makeLog()
        try set(RoomSettings(slowSeconds: 10), log)
        // Messages before do not count.
        #expect(try log.send(.init(sender: "bob", id: "2")).seq == 3)
        clock.step(1)
        #expect(throws: Problem.slowMode(retryAfter: 10)) { try log.send(.init(sender: "bob", id: "3")) }
        #expect(try !log.send(.init(sender: "bob", id: "2")).isNew)
        #expect(try log.send(.init(sender: "carol")).seq == 4)
        #expect(try log.sendAll([.init(), .init()]).map { try $0.get().seq } == [5, 6])
        clock.step(9998)
        #expect(throws: Problem.slowMode(retryAfter: 1)) { try log.send(.init(sender: "bob", id: "3")) }
        clock.step(1)
        let both = try log.sendAll([.init(sender: "bob", id: "3"), .init(sender: "bob", id: "4")])
        #expect(try both[0].get().seq == 7)
        #expect(throws: Problem.slowMode(retryAfter: 10)) { try both[1].get() }
        // A refused send does not prolong the wait.
        try set(RoomSettings(slowSeconds: 0), log)
        #expect(try log.send(.init(sender: "bob", id: "4")).seq == 8)
        log.close()
        try expectSound(log.path)
    }

    @Test func `are removed with the room, and with an erased user`() throws {
        let log = try makeLog()
        try set(RoomSettings(slowSeconds: 3600, keepDays: 1, avatar: "https://example.com", data: [0x7B, 0x7D]), log)
        for sender in ["bob", "carol"] { try log.send(.init(sender: sender)) }
        #expect(try log.count("slow_sends") == 2)
        let bob = try UserID("bob")
        _ = try log.outcome(
            Submission(
                ticket: Ticket(loop: 0, number: 1_000_000), room: nil, sender: try UserID("root"),
                change: .user(bob, .erase), isAdmin: true)
        ).get()
        // A new user of the name has not sent anything.
        #expect(try log.send(.init(sender: "bob")).isNew)
        try waitUntil { try log.count("jobs") == 0 }
        #expect(try log.count("slow_sends") == 2)
        try set(.every, log)
        _ = try log.change(.delete, by: "alice").get()
        try waitUntil { try log.count("jobs") == 0 }
        #expect(try log.count("slow_sends") == 0)
        let left = "SELECT count(*) FROM rooms WHERE private + posting + pinning + slow_seconds > 0 OR searchable = 0"
        #expect(try log.number("\(left) OR coalesce(title, avatar, data, CAST(keep_days AS text)) IS NOT NULL") == 0)
        log.close()
        try expectSound(log.path)
    }
}
