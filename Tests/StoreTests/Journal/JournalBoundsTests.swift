import Chat
import GRDB
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The bounds of the journal")
struct JournalBoundsTests {
    private func rows(_ log: TestLog) throws -> Int {
        try log.sql { try Int.fetchOne($0, sql: "SELECT count(*) FROM journal")! }
    }

    /// How many rows of the journal have a text in them.
    private func rows(_ log: TestLog, with text: String) throws -> Int {
        try log.sql { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM journal WHERE instr(messages, CAST(? AS BLOB)) > 0", arguments: [text])!
        }
    }

    /// How many messages of a room are in their places.
    private func filed(_ log: TestLog, of room: String) throws -> Int {
        try log.sql { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM messages JOIN rooms ON rooms.id = messages.id >> 36 WHERE name = ?",
                arguments: [room])!
        }
    }

    /// A log that is never idle.
    private func makeLog(_ configure: (inout StoreConfiguration) -> Void) throws -> TestLog {
        try TestLog {
            $0.journalMessagesOfRoom = 6
            $0.filingDelay = 1_000_000
            configure(&$0)
        }
    }

    @Test("A room that is quiet does not have it grow while others are busy")
    func quietRoom() throws {
        let log = try makeLog { $0.journalRows = 20 }
        let body = try log.fill(1, "quiet")
        for _ in 0..<19 { try log.fill(3, "busy") }
        #expect(try filed(log, of: "quiet") == 0)
        for _ in 0..<60 {
            try log.fill(3, "busy")
            #expect(try rows(log) <= 21)
        }
        #expect(try filed(log, of: "quiet") == 1)
        #expect(try log.page(of: "quiet").messages == joined(body))
    }

    @Test("Large rows count by their bytes")
    func bytes() throws {
        let log = try makeLog {
            $0.journalRowBytes = 30_000
            $0.journalMessagesOfRoom = 2
        }
        try log.fill(1, "quiet")
        for round in 0..<40 {
            try log.send(.init(text: String(repeating: "x", count: round < 20 ? 10 : 6000), room: "busy"))
            let bytes = try log.sql { try Int.fetchOne($0, sql: "SELECT sum(length(messages)) FROM journal")! }
            #expect(bytes <= 30_000 + 7000)
        }
        #expect(try filed(log, of: "quiet") == 1)
    }

    @Test("What a deleted message said is gone from it some commits later, whatever was sent beside it")
    func deletedText() throws {
        let log = try makeLog { $0.journalRows = 20 }
        try log.sendAll([.init(text: "whisper", room: "lobby"), .init(room: "quiet")])
        for _ in 0..<10 { try log.fill(3, "busy") }
        try log.delete(1)
        #expect(try rows(log, with: "whisper") == 1)
        for _ in 0..<40 { try log.fill(3, "busy") }
        #expect(try rows(log, with: "whisper") == 0)
    }

    @Test("A message is not in it for longer than it may be, however little is sent")
    func age() throws {
        let clock = TestClock()
        let log = try makeLog {
            $0.journalAge = 1000
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
        // Not only when something is sent to a room.
        try log.read(to: 1, in: "busy", as: "bob")
        #expect(try filed(log, of: "busy") == 2)
        #expect(try rows(log) == 0)
    }

    @Test("A quiet room's message expires while others are sent all the time")
    func expires() throws {
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

    @Test("Rows that are not needed any more go some at a time, when nothing is added too")
    func deletesSome() throws {
        let most = JournalRows.mostDeleted
        let count = 2 * most + 10
        let log = try makeLog { $0.journalMessagesOfRoom = count }
        for _ in 0..<count { try log.fill(1) }
        for left in [count, count - most, count - 2 * most, 0] {
            #expect(try rows(log) == left)
            try log.read(to: 1, as: "bob")
        }
        #expect(try filed(log, of: "lobby") == count)
    }

    @Test("All rows go while nothing is sent, and when the log is closed", arguments: [1, 1_000_000])
    func emptied(filingDelay: Int) throws {
        let count = 2 * JournalRows.mostDeleted + 10
        let log = try makeLog {
            $0.journalMessagesOfRoom = 1000
            $0.filingDelay = filingDelay
        }
        for _ in 0..<count { try log.fill(1) }
        if filingDelay == 1 { try waitUntil { (try? rows(log)) == 0 } }
        log.close()
        #expect(try rows(log) == 0)
        #expect(try filed(log, of: "lobby") == count)
    }

    @Test("Who reads does not keep it from being emptied")
    func readMarks() throws {
        let log = try makeLog { $0.filingDelay = 100 }
        try log.fill(3)
        // A commit each, without a pause.
        try waitUntil {
            _ = try? log.read(to: 1, as: "bob")
            return (try? rows(log)) == 0
        }
        #expect(try filed(log, of: "lobby") == 3)
    }

    @Test("One that a crash has left longer than it may be is shortened by the commits that follow, a little by each")
    func shortened() throws {
        let log = try makeLog { _ in }
        for round in 0..<Backlog.messagesOfFiling * 2 {
            try log.sendAll([.init(room: "room\(round)"), .init(text: "two", room: "lobby\(round)")])
        }
        let directory = try TemporaryDirectory()
        for suffix in ["", "-wal"] { try run("cp", log.path + suffix, directory.path(of: "log.db" + suffix)) }
        let again = try TestLog(in: directory) {
            $0.journalRows = 10
            $0.filingDelay = 1_000_000
        }
        var before = 0
        for _ in 0..<6 {
            try again.read(to: 1, in: "room0", as: "bob")
            let now = try again.sql { try Int.fetchOne($0, sql: "SELECT count(*) FROM messages")! }
            #expect(now - before <= Backlog.messagesOfFiling)
            before = now
        }
        #expect(try rows(again) == 10)
        #expect(before == (Backlog.messagesOfFiling * 2 - 10) * 2)
    }
}
