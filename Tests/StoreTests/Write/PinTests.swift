import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Pinned messages")
struct PinTests {
    private let clock = TestClock(1_700_000_000_000)

    private func makeLog(_ configure: (inout StoreConfiguration) -> Void = { _ in }) throws -> TestLog {
        try TestLog { [clock] in
            $0.clock = { clock.now }
            configure(&$0)
        }
    }

    private func pin(_ seq: Int64, as user: String = "alice", _ log: TestLog) throws -> StoredMessage {
        try log.change(TestLog.Change(seq: seq, action: .pin, user: user))
    }

    private func unpin(_ seq: Int64, as user: String = "alice", _ log: TestLog) throws -> StoredMessage {
        try log.change(TestLog.Change(seq: seq, action: .unpin, user: user))
    }

    private func slice(before rev: Int64? = nil, limit: Int = Limits.pins, _ log: TestLog) throws -> PinSlice {
        try log.ask { .pins(before: rev, limit: limit, $0) }
    }

    private func pinned(_ log: TestLog) throws -> Pin? {
        try Message(decoding: #require(try log.message(1))).pinned
    }

    @Test func `are listed, latest pin first, as they are now`() throws {
        let log = try makeLog()
        #expect(try slice(log).messages == [])
        try log.fill(4)
        let (third, first, fourth) = (try pin(3, log), try pin(1, log), try pin(4, log))
        #expect([third, first, fourth].map(\.rev) == [5, 6, 7])
        #expect(try Message(decoding: third.body).pinned == Pin(by: UserID("alice"), at: clock.now))
        #expect(try slice(log).messages == joined([fourth, first, third].map(\.body)))
        #expect(try log.changes(since: 4).messages == joined([third, first, fourth].map(\.body)))
        // Repeated, a pin keeps its place.
        #expect(try pin(3, log).body == third.body)
        let edited = try log.edit(1, "edited")
        #expect(try Message(decoding: edited.body).pinned == Message(decoding: first.body).pinned)
        let left = try unpin(4, log)
        #expect(try left.rev == 9 && Message(decoding: left.body).pinned == nil)
        #expect(try unpin(4, log).body == left.body)
        #expect(try slice(log).messages == joined([edited, third].map(\.body)))
        let again = try log.reopened()
        #expect(try slice(again).messages == joined([edited, third].map(\.body)))
        again.close()
        try expectSound(again.path)
    }

    @Test func `are listed in parts of a number or of a size`() throws {
        let log = try makeLog { $0.answerBytes = 1000 }
        try log.fill(5)
        let pins = try (1...5).reversed().map { try pin($0, log) }
        let first = try slice(limit: 2, log)
        #expect(first.messages == joined([pins[4], pins[3]].map(\.body)) && first.next == pins[3].rev)
        let rest = try slice(before: first.next, log)
        #expect(rest.messages == joined([pins[2], pins[1], pins[0]].map(\.body)) && rest.next == nil)
        try log.edit(3, String(repeating: "x", count: 1000))
        let cut = try slice(log)
        #expect(cut.next == pins[2].rev)
        #expect(try slice(before: cut.next, log).next == nil)
    }

    @Test func `are pinned by owners and admins, and by members if the room says so`() throws {
        let log = try makeLog()
        try log.fill(1)
        try log.join("lobby", as: "bob")
        #expect(throws: Problem.notAnOwner) { try pin(1, as: "bob", log) }
        #expect(throws: Problem.messageNotFound) { try pin(2, as: "bob", log) }
        let admin = try log.change(TestLog.Change(seq: 1, action: .pin, user: "root", isAdmin: true))
        #expect(try Message(decoding: admin.body).pinned?.by.string == "root")
        #expect(throws: Problem.notAnOwner) { try unpin(1, as: "bob", log) }
        _ = try log.change(.set(RoomSettings(pinning: .members)), by: "alice").get()
        #expect(try log.summary(for: "bob").manners.pinning == .members)
        _ = try unpin(1, as: "bob", log)
        #expect(throws: Problem.notAMember) { try pin(1, as: "stranger", log) }
        _ = try pin(1, as: "bob", log)
        _ = try log.change(.set(RoomSettings(pinning: .owners)), by: "alice").get()
        #expect(throws: Problem.notAnOwner) { try unpin(1, as: "bob", log) }
        #expect(throws: Problem.preconditionFailed(rev: 4)) {
            try log.change(TestLog.Change(seq: 1, action: .unpin, revs: [3]))
        }
    }

    @Test func `are at most 50 in a room`() throws {
        let log = try makeLog()
        try log.fill(51)
        try log.fill(1, "other")
        for seq in 1...50 as ClosedRange<Int64> { _ = try pin(seq, log) }
        #expect(throws: Problem.tooManyPins) { try pin(51, log) }
        _ = try pin(50, log)
        _ = try log.change(TestLog.Change(seq: 1, action: .pin, room: "other"))
        try log.delete(7)
        _ = try pin(51, log)
    }

    @Test func `are unpinned when they are deleted or expire, and cannot be pinned then`() throws {
        let log = try makeLog {
            $0.keepDays = 1
            $0.expiryPause = 1
            $0.expiryInterval = 1
        }
        try log.fill(3)
        for seq in [1, 2, 3] as [Int64] { _ = try pin(seq, log) }
        try log.delete(2)
        #expect(throws: Problem.messageDeleted) { try pin(2, log) }
        _ = try unpin(2, log)
        #expect(try log.texts("SELECT message & 15 FROM pins ORDER BY 1") == ["1", "3"])
        clock.step(86_400_001)
        try waitUntil { try log.count("pins") == 0 }
        #expect(try slice(log).messages == [])
        log.close()
        try expectSound(log.path)
    }

    @Test func `lose the name of an erased user, and those that a new user of the name pins keep it`() throws {
        let log = try makeLog { $0.writers = 1 }
        try log.fill(2)
        _ = try log.change(.setMember(UserID("bob"), .owner), by: "alice").get()
        _ = try pin(1, as: "bob", log)
        // The reactions of the user are removed before the pins.
        try log.react(to: 2, as: "bob")
        let bob = try UserID("bob")
        let erase = Submission(
            ticket: Ticket(loop: 9, number: 1), room: nil, sender: try UserID("root"), change: .user(bob, .erase),
            isAdmin: true)
        _ = try log.outcome(erase).get()
        _ = try log.change(.setMember(bob, .owner), by: "alice").get()
        _ = try pin(2, as: "bob", log)
        try waitUntil { try log.count("jobs") == 0 }
        #expect(try pinned(log) == Pin(by: .deleted, at: clock.now))
        #expect(try Message(decoding: #require(try log.message(2))).pinned?.by == bob)
        #expect(try log.texts("SELECT \"user\" FROM pins ORDER BY message") == ["~deleted", "bob"])
        log.close()
        try expectSound(log.path)
    }

    @Test func `are removed with their room`() throws {
        let log = try makeLog()
        try log.fill(3)
        for seq in [1, 3] as [Int64] { _ = try pin(seq, log) }
        _ = try log.change(.delete, by: "alice").get()
        try waitUntil { try log.count("jobs") == 0 }
        #expect(try log.count("pins") == 0)
    }
}
