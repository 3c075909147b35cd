import Chat
import GRDB
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Read marks")
struct ReadMarkTests {
    @Test(arguments: TestStore.journals(0, 16_384))
    func `move forward, never back, and never beyond the head`(journalMessages: Int) throws {
        let log = try TestLog { $0.journal.messages = journalMessages }
        try log.fill(5)
        for (seq, mark, moves) in [
            (2, 2, true), (2, 2, false), (1, 2, false), (0, 2, false), (.max, 5, true), (9, 5, false),
        ]
            as [(Int64, Int64, Bool)]
        {
            #expect(try log.read(to: seq, as: "bob") == .readMark(seq: mark, hasMoved: moves))
            #expect(try log.summary(for: "bob").read == mark)
        }
        try log.fill(2)
        #expect(try log.read(to: 9, as: "bob").seq == 7)
    }

    @Test func `exist once for each user and room`() throws {
        let log = try TestLog()
        try log.fill(5, "red")
        try log.fill(5, "green")
        try log.read(to: 3, in: "red", as: "bob")
        try log.read(to: 2, in: "green", as: "bob")
        try log.read(to: 1, in: "red", as: "carol")
        #expect(try log.summary(of: "red", for: "bob").read == 3)
        #expect(try log.summary(of: "green", for: "bob").read == 2)
        #expect(try log.summary(of: "red", for: "carol").read == 1)
        #expect(try log.summary(of: "green", for: "carol").read == 0)
    }

    @Test(.onSQLite(.journal))
    func `are not beyond the visible head if a message is sent and read during a read`() throws {
        let log = try TestLog { $0.journal.idleTime = 1_000_000 }
        try log.fill(3)
        try log.read(to: 3, as: "bob")
        let bob = try UserID("bob")
        for recent in 0...3 {
            let summary = try log.withConnection { db in
                let statements = try SQLiteReaderStatements(db)
                let transaction = ReadTransaction(
                    SQLiteView(own: statements, unfiled: SQLiteView.Unfiled()),
                    ReadContext(epoch: "", bans: BanTable(), StoreConfiguration()), PushDeflater())
                // The recent messages before the last sends.
                let journal = Journal()
                try journal.load(db, at: .latest)
                let messages = Array(journal.messages(of: try RoomID("lobby")).prefix(recent))
                let room = try SQLiteRoom(RoomID("lobby"), recent: messages, statements)
                return try transaction.summary(of: RoomID("lobby"), room, for: bob)
            }
            #expect(summary.head == Int64(recent) && summary.read == Int64(recent))
            #expect(summary.unread == 0 && summary.firstUnread == nil)
        }
    }

    @Test func `of an unused room stay at 0, and do not create the room`() throws {
        let log = try TestLog()
        let stored = try log.read(to: 7, as: "bob")
        #expect(stored.seq == 0 && !stored.isNew)
        #expect(try log.count("rooms") == 0)
        let summary = try log.summary(for: "bob")
        #expect(summary.head == 0 && summary.read == 0 && summary.unread == 0 && summary.firstUnread == nil)
    }

    @Test func `see sends earlier in the same commit`() throws {
        let log = try TestLog()
        let sends = try log.submissions([.init(), .init(), .init()])
        let read = try log.submission(.read(seq: 9), by: "bob")
        log.log.submit(sends + [read])
        #expect(try log.listener.outcomes([read.ticket])[0].result.get().seq == 3)
    }

    @Test func `survive a restart and a crash`() throws {
        var log = try TestLog()
        try log.fill(5)
        try log.read(to: 3, as: "bob")
        #expect(try log.crashed().summary(for: "bob").read == 3)
        log = try log.reopened()
        #expect(try log.summary(for: "bob").read == 3)
        #expect(try log.read(to: 2, as: "bob").seq == 3)
    }

    @Test func `are places for pages`() throws {
        let log = try TestLog()
        let bodies = try log.fill(9)
        #expect(try log.page(.before(.read), for: "bob").count == 0)
        #expect(try log.page(.after(.read), for: "bob").count == 9)
        try log.read(to: 4, as: "bob")
        #expect(try log.page(.before(.read), for: "bob").messages == joined(bodies[..<3]))
        #expect(try log.page(.after(.read), for: "bob").messages == joined(bodies[4...]))
        let around = try log.page(.around(.read), limit: 3, for: "bob")
        #expect(around.messages == joined(bodies[2...4]) && around.hasBefore && around.hasAfter)
        #expect(try log.page(.after(.read), for: "carol").count == 9)
    }

    @Test func `are found by a search`() throws {
        let log = try TestLog()
        for query in [
            "SELECT seq FROM read_marks WHERE \"user\" = 'a' AND room = 1",
            "SELECT sender, changed, body FROM messages WHERE id > 1 AND id <= 2 ORDER BY id",
        ] {
            #expect(try log.scans(query) == [], "\(query)")
        }
    }
}
