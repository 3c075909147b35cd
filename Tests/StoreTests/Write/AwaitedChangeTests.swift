import Chat
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

/// A server may have been stopped while requests waited in it.
@Suite("A change that has waited")
struct AwaitedChangeTests {
    private func makeLog() throws -> TestLog {
        let log = try TestLog { $0.changeAge = .seconds(5) }
        try log.send(.init(text: "first"))
        _ = try log.change(.setMember(UserID("bob"), .member), by: "alice").get()
        try log.react(to: 1)
        return log
    }

    /// One change of each kind, each of which would change something.
    private func changes(_ log: TestLog) throws -> [Submission] {
        let (bob, carol) = (try UserID("bob"), try UserID("carol"))
        let ban = BanSettings(scope: .all, until: nil, reason: nil)
        return try [
            log.submissions([.init(text: "late"), .init(text: "late", id: "a"), .init(text: "late", room: "other")]),
            [
                log.submission(TestLog.Change(seq: 1, action: .edit(Edit(text: "late")))),
                log.submission(TestLog.Change(seq: 1, action: .delete)),
                log.submission(TestLog.Change(seq: 1, action: .addReaction(ReactionKey("👍")))),
                log.submission(TestLog.Change(seq: 1, action: .removeReaction(ReactionKey("❤️")))),
                log.submission(.read(seq: 1), by: "bob"),
                log.submission(.room(.setMember(carol, .member)), by: "alice"),
                log.submission(.room(.setMember(bob, .owner)), by: "alice"),
                log.submission(.room(.removeMember(bob)), by: "alice"),
                log.submission(.room(.setBan(bob, ban)), by: "alice"),
                log.submission(.room(.set(RoomSettings(visibility: .private, title: "late"))), by: "alice"),
                log.submission(.room(.set(RoomSettings(visibility: .private))), in: "new", by: "alice"),
                log.submission(.room(.delete), by: "alice"),
                serverChange(log, .ban(ban)), serverChange(log, .erase),
            ],
        ].flatMap(\.self)
    }

    private func serverChange(_ log: TestLog, _ change: UserChange) throws -> Submission {
        var submission = try log.submission(.user(UserID("bob"), change), by: "root", isAdmin: true)
        submission.room = nil
        return submission
    }

    private func expectUnchanged(_ log: TestLog) throws {
        let message = try #require(try log.message(1))
        #expect(String(decoding: message, as: UTF8.self).contains("first"))
        #expect(try log.state() == RoomState(head: 1, rev: 2))
        #expect(log.listener.ends.events.isEmpty)
        #expect(log.log.bans.isEmpty)
        #expect(try log.state(of: "other").head == 0)
        // No room was created.
        for room in ["other", "new"] {
            #expect(try log.change(.set(RoomSettings(title: "x")), in: room, by: "bob").get().isNew)
        }
    }

    @Test func `for too long is refused, and changes nothing`() throws {
        let log = try makeLog()
        for var submission in try changes(log) {
            submission.arrival = .now - .seconds(6)
            #expect(throws: Problem.tooLate) { try log.outcome(submission).get() }
        }
        try expectUnchanged(log)
    }

    @Test func `is refused if its client has gone, and changes nothing`() throws {
        let log = try makeLog()
        for var submission in try changes(log) {
            submission.arrival = .now - .seconds(2)
            log.listener.abandoned.withLock { $0 = [submission.ticket] }
            #expect(throws: Problem.tooLate) { try log.outcome(submission).get() }
        }
        try expectUnchanged(log)
    }

    @Test func `is made if its client still waits, and others of the same commit need not wait`() throws {
        let log = try TestLog { $0.changeAge = .seconds(60) }
        var submissions = try log.submissions((0..<4).map { .init(text: "\($0)") })
        submissions[1].arrival = .now - .seconds(61)
        submissions[2].arrival = .now - .seconds(2)
        submissions[3].arrival = .now - .seconds(2)
        let gone = submissions[3].ticket
        log.listener.abandoned.withLock { $0 = [gone] }
        let results = try log.submitAll(submissions)
        #expect(try results[0].get().seq == 1)
        #expect(throws: Problem.tooLate) { try results[1].get() }
        #expect(try results[2].get().seq == 2)
        #expect(throws: Problem.tooLate) { try results[3].get() }
        #expect(log.listener.asked.withLock { $0 } == [submissions[2].ticket, gone], "only those of middle age")
    }

    @Test func `is refused after five seconds by default`() {
        #expect(StoreConfiguration().changeAge == .seconds(5))
        #expect(Submission.youth == .seconds(1))
    }
}
