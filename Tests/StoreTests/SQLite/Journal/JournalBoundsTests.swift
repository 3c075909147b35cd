import Chat
import GRDB
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The journal's bounds", .partOfSQLite(.journal))
struct JournalBoundsTests {
    private func rows(_ log: TestLog) throws -> Int {
        try log.sql { try Int.fetchOne($0, sql: "SELECT count(*) FROM journal")! }
    }

    private func bytes(_ log: TestLog) throws -> Int {
        try log.sql { try Int.fetchOne($0, sql: "SELECT sum(length(messages)) FROM journal")! }
    }

    /// Returns the number of journal rows that contain a text.
    private func rows(_ log: TestLog, with text: String) throws -> Int {
        try log.sql { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM journal WHERE instr(messages, CAST(? AS BLOB)) > 0", arguments: [text])!
        }
    }

    /// Returns the number of a room's filed messages.
    private func filed(_ log: TestLog, of room: String) throws -> Int {
        try log.sql { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM messages JOIN rooms ON rooms.id = messages.id >> 36 WHERE name = ?",
                arguments: [room])!
        }
    }

    /// Creates a log that never becomes idle.
    private func makeLog(_ configure: (inout StoreConfiguration) -> Void) throws -> TestLog {
        try TestLog {
            $0.journal.messagesOfRoom = 6
            $0.journal.idleTime = 1_000_000
            configure(&$0)
        }
    }

    @Test func `hold with a quiet room among busy ones, whatever the size of their messages`() throws {
        let log = try makeLog {
            $0.journal.rowBytes = 30_000
            $0.journal.messagesOfRoom = 2
        }
        let body = try log.fill(1, "quiet")
        for round in 0..<40 {
            try log.send(.init(text: String(repeating: "x", count: round < 20 ? 10 : 6000), room: "busy"))
            #expect(try bytes(log) <= 30_000 + 7000)
            if round < 20 { #expect(try filed(log, of: "quiet") == 0) }
        }
        #expect(try filed(log, of: "quiet") == 1)
        #expect(try log.page(of: "quiet").messages == joined(body))
    }

    @Test func `remove a deleted message's content after some commits, whatever was sent with it`() throws {
        let log = try makeLog { $0.journal.rowBytes = 16_000 }
        try log.sendAll([.init(text: "whisper", room: "lobby"), .init(room: "quiet")])
        for _ in 0..<10 { try log.fill(3, "busy") }
        try log.delete(1)
        #expect(try rows(log, with: "whisper") == 1)
        for _ in 0..<40 { try log.fill(3, "busy") }
        #expect(try rows(log, with: "whisper") == 0)
    }

    @Test func `limit the age of messages, even if few are sent`() throws {
        let clock = TestClock()
        let log = try makeLog {
            $0.journal.age = 1000
            $0.clock = { clock.now }
        }
        try log.fill(1, "quiet")
        clock.step(1000)
        try log.fill(1, "busy")
        #expect(try filed(log, of: "quiet") == 0)
        clock.step(1)
        try log.fill(1, "busy")
        #expect(try filed(log, of: "quiet") == 1)
        #expect(try filed(log, of: "busy") == 0)
        clock.step(1001)
        // Commits without messages count, too.
        try log.read(to: 1, in: "busy", as: "bob")
        #expect(try filed(log, of: "busy") == 2)
        #expect(try rows(log) == 0)
    }

    @Test func `let a quiet room's message expire while others are sent`() throws {
        let clock = TestClock()
        let log = try makeLog {
            $0.clock = { clock.now }
            $0.keepDays = 1
            $0.expiryPause = 1
            $0.expiryInterval = 1
        }
        try log.fill(1, "quiet")
        for _ in 0..<30 {
            clock.step(3_000_000)
            try log.fill(1, "busy")
        }
        try waitUntil { (try? Message(decoding: log.message(1, of: "quiet")!).deleted) == true }
    }

    @Test func `limit the obsolete rows deleted at once, also by commits without messages`() throws {
        let most = CommitLimits.deletedRows
        let count = 2 * most + 10
        let log = try makeLog { $0.journal.messagesOfRoom = count }
        for _ in 0..<count { try log.fill(1) }
        for left in [count, count - most, count - 2 * most, 0] {
            #expect(try rows(log) == left)
            try log.read(to: 1, as: "bob")
        }
        #expect(try filed(log, of: "lobby") == count)
    }

    @Test(arguments: [1, 1_000_000])
    func `allow all rows to be removed while idle and on closing`(idleTime: Int) throws {
        let count = 2 * CommitLimits.deletedRows + 10
        let log = try makeLog {
            $0.journal.messagesOfRoom = 1000
            $0.journal.idleTime = idleTime
        }
        for _ in 0..<count { try log.fill(1) }
        if idleTime == 1 { try waitUntil { (try? rows(log)) == 0 } }
        log.close()
        #expect(try rows(log) == 0)
        #expect(try filed(log, of: "lobby") == count)
    }

    @Test func `hold while only read marks are committed`() throws {
        let log = try makeLog { $0.journal.idleTime = 100 }
        try log.fill(3)
        // Each call is a commit, without pauses.
        try waitUntil {
            _ = try? log.read(to: 1, as: "bob")
            return (try? rows(log)) == 0
        }
        #expect(try filed(log, of: "lobby") == 3)
    }

    @Test func `are restored gradually if a crash left the journal too long`() throws {
        let log = try makeLog { _ in }
        for round in 0..<CommitLimits.filedMessages * 2 {
            try log.sendAll([.init(room: "room\(round)"), .init(text: "two", room: "lobby\(round)")])
        }
        let directory = try TemporaryDirectory()
        for suffix in ["", "-wal"] { try run("cp", log.path + suffix, directory.path(of: "log.db" + suffix)) }
        let again = try TestLog(in: directory) {
            $0.journal.rowBytes = 5000
            $0.journal.idleTime = 1_000_000
        }
        var before = 0
        for _ in 0..<6 {
            try again.read(to: 1, in: "room0", as: "bob")
            let now = try again.sql { try Int.fetchOne($0, sql: "SELECT count(*) FROM messages")! }
            #expect(now - before <= CommitLimits.filedMessages)
            before = now
        }
        let left = try rows(again)
        #expect(try left > 1 && bytes(again) <= 5000)
        #expect(before == (CommitLimits.filedMessages * 2 - left) * 2)
    }
}
