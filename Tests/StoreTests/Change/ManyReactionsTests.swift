import Chat
import GRDB
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

    private func rows(_ log: TestLog, in table: String) throws -> Int {
        try log.sql { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    }

    @Test("are removed in parts, while the tombstone shows none from the first commit on", .onSQLite)
    func parts() throws {
        let log = try reactedLog()
        // The writer waits until this was recorded.
        let seen = Recorder<Int>()
        log.listener.onCommitted.withLock { [path = log.path] in
            $0 = {
                let count = try? DatabaseQueue(path: path).read { db in
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM reactions")
                }
                seen.record(count ?? -1)
            }
        }
        let deleted = try log.delete(1)
        #expect(seen.events == [Self.users])
        #expect(try Message(decoding: deleted.body).reactions.isEmpty)
        #expect(try log.message(1) == deleted.body)
        #expect(throws: Problem.messageDeleted) { try log.react(to: 1, as: "late") }
        try waitUntil { (try? rows(log, in: "reactions")) == 0 && (try? rows(log, in: "jobs")) == 0 }
        #expect(try log.message(1) == deleted.body)
        #expect(try DatabaseCheck(log.path).run().isSound)
    }

    @Test("are removed after a crash, and a check in between finds the database sound", .onSQLite)
    func crash() throws {
        let log = try reactedLog()
        let directory = try TemporaryDirectory()
        log.listener.onCommitted.withLock { [path = log.path] in
            $0 = {
                for suffix in ["", "-wal"] { _ = try? run("cp", path + suffix, directory.path(of: "log.db" + suffix)) }
            }
        }
        try log.delete(1)
        log.listener.onCommitted.withLock { $0 = nil }
        #expect(try DatabaseCheck(directory.path(of: "log.db")).run().isSound)
        let events = Recorder<JobEvent>()
        let again = try TestLog(in: directory) { $0.onJob = { events.record($0) } }
        #expect(try events.wait(for: 1) == [.done("removing the reactions to a deleted message")])
        #expect(try rows(again, in: "reactions") == 0 && rows(again, in: "jobs") == 0)
        #expect(try DatabaseCheck(again.path).run().isSound)
    }

    @Test("are removed in parts when the message's sender is erased", .onSQLite)
    func erasedSender() throws {
        let log = try reactedLog()
        _ = try log.outcome(log.submission(.user(try UserID("alice"), .erase), by: "root", isAdmin: true)).get()
        try waitUntil { (try? rows(log, in: "reactions")) == 0 && (try? rows(log, in: "jobs")) == 0 }
        #expect(try Message(decoding: #require(try log.message(1))).reactions.isEmpty)
        #expect(try DatabaseCheck(log.path).run().isSound)
    }

    @Test("are removed at once if they are few", .onSQLite)
    func few() throws {
        let log = try TestLog()
        try log.fill(1)
        try log.react(to: 1, as: "bob")
        let seen = Recorder<Int>()
        log.listener.onCommitted.withLock { [path = log.path] in
            $0 = {
                let count = try? DatabaseQueue(path: path).read { db in
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM reactions") ?? 0
                }
                seen.record(count ?? -1)
            }
        }
        try log.delete(1)
        #expect(seen.events == [0])
    }
}
