import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("What may disturb a user in a room")
struct NotifyTests {
    private func set(_ settings: NotifySettings, of user: String, in room: String = "lobby", _ log: TestLog) throws {
        _ = try log.change(.setNotify(settings), in: room, by: user).get()
    }

    @Test func `is kept over a restart, and ends by itself at its time`() throws {
        let clock = TestClock()
        var log = try TestLog { $0.clock = { clock.now } }
        try log.send(.init(sender: "alice"))
        let until = Timestamp(milliseconds: clock.now.milliseconds + 1000)
        let settings = NotifySettings(level: .none, until: until, roomMentions: false)
        try set(settings, of: "bob", log)
        log = try log.reopened { $0.clock = { clock.now } }
        #expect(try log.summary(for: "bob").notify == settings && log.summary(for: "alice").notify == nil)
        clock.step(1000)
        #expect(try log.summary(for: "bob").notify == nil)
        #expect(throws: Problem.invalidField("until", must: "a time in the future")) {
            try set(settings, of: "bob", log)
        }
    }

    @Test func `is forgotten with the membership, the user and the room`() throws {
        let log = try TestLog()
        for room in ["lobby", "den"] { try log.send(.init(room: room, sender: "alice")) }
        for user in ["bob", "carol", "dora"] {
            for room in ["lobby", "den"] { try set(NotifySettings(level: .mentions), of: user, in: room, log) }
        }
        _ = try log.change(.setMember(try UserID("bob"), nil), by: "alice").get()
        _ = try log.change(.removeMember(try UserID("bob")), by: "alice").get()
        #expect(try log.summary(for: "bob").notify == nil && log.count("notify") == 5)
        try set(NotifySettings(), of: "dora", log)
        #expect(try log.count("notify") == 4)
        let erasure = Submission(
            ticket: Ticket(loop: 9, number: 1), room: nil, sender: try UserID("root"),
            change: .user(try UserID("carol"), .erase), isAdmin: true)
        _ = try log.outcome(erasure).get()
        #expect(try log.summary(for: "carol").notify == nil)
        try waitUntil { try log.count("notify") == 2 }
        _ = try log.change(.delete, in: "den", by: "alice").get()
        try waitUntil { try log.count("notify") == 0 }
    }
}
