import Chat
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The reactions to a deleted message")
struct ManyReactionsTests {
    private static let users = 3 * CommitLimits.jobRows + 5

    /// Creates a log with a message that has more reactions than one commit removes.
    private func reactedLog() throws -> TestLog {
        let log = try TestLog()
        try log.fill(2)
        try log.submitAll(
            (0..<Self.users).map {
                try log.submission(
                    .init(seq: 1, action: .addReaction(ReactionKey($0 % 2 == 0 ? "+1" : "❤️")), user: "user\($0)"))
            })
        return log
    }

    /// Records the number of stored reactions at each commit. The writer waits meanwhile.
    private func recordReactions(_ log: TestLog) -> Recorder<Int> {
        let seen = Recorder<Int>()
        log.listener.onCommitted.withLock { hook in
            hook = { [weak log] in seen.record((try? log?.count("reactions")) ?? -1) }
        }
        return seen
    }

    @Test func `are removed in parts, while the tombstone shows none from the first commit on`() throws {
        let log = try reactedLog()
        let seen = recordReactions(log)
        let deleted = try log.delete(1)
        #expect(seen.events == [Self.users])
        #expect(try Message(decoding: deleted.body).reactions.isEmpty)
        #expect(try log.message(1) == deleted.body)
        #expect(throws: Problem.messageDeleted) { try log.react(to: 1, as: "late") }
        try waitUntil { try log.count("reactions") == 0 && log.count("jobs") == 0 }
        #expect(try log.message(1) == deleted.body)
        try expectSound(log.path)
    }

    @Test func `are not listed, even if they are still to be removed`() throws {
        let log = try TestLog()
        try log.fill(1)
        try log.delete(1)
        // As if a job had not begun.
        try log.execute(
            "INSERT INTO reactions (message, key, \"user\", rev) SELECT id, '+1', 'bob', 2 FROM messages")
        #expect(try log.count("reactions") == 1)
        let key = try ReactionKey("+1")
        let listed = try log.ask { .reactions(seq: 1, key, after: nil, limit: 10, $0) }
        #expect(listed == ReactingUsers(users: [], hasMore: false))
    }

    @Test func `are removed after a crash, and a check in between finds the database sound`() throws {
        let log = try reactedLog()
        let copies = Recorder<TemporaryDirectory>()
        log.listener.onCommitted.withLock { hook in
            hook = { [weak log] in if let copy = try? log?.copied() { copies.record(copy) } }
        }
        try log.delete(1)
        log.listener.onCommitted.withLock { $0 = nil }
        let directory = try #require(copies.events.first)
        try expectSound(directory.path(of: "log.db"))
        let events = Recorder<JobEvent>()
        let again = try TestLog(in: directory) { $0.onJob = { events.record($0) } }
        #expect(try events.wait(for: 1) == [.done("removing the reactions to a deleted message")])
        #expect(try again.count("reactions") == 0 && again.count("jobs") == 0)
        try expectSound(again.path)
    }

    @Test func `are removed in parts when the message's sender is erased`() throws {
        let log = try reactedLog()
        _ = try log.outcome(log.submission(.user(try UserID("alice"), .erase), by: "root", isAdmin: true)).get()
        try waitUntil { try log.count("reactions") == 0 && log.count("jobs") == 0 }
        #expect(try Message(decoding: #require(try log.message(1))).reactions.isEmpty)
        try expectSound(log.path)
    }

    @Test func `are removed at once if they are few`() throws {
        let log = try TestLog()
        try log.fill(1)
        try log.react(to: 1, as: "bob")
        let seen = recordReactions(log)
        try log.delete(1)
        #expect(seen.events == [0])
    }
}
