import Chat
import GRDB
import Testing
import Wire

@testable import Store

@Suite("What is unread")
struct UnreadTests {
    /// Makes tombstones of messages of the first room, as a delete leaves them.
    private func delete(_ seqs: Range<Int64>, in log: TestLog) throws {
        try log.sql { db in
            for seq in seqs {
                let message = Message(
                    room: try RoomID("lobby"), seq: seq, rev: 10_000 + seq, sender: try UserID("alice"),
                    content: Content(), createdAt: .earliest, deleted: true)
                var body: [UInt8] = []
                message.encode(into: &body)
                try db.execute(
                    sql: "UPDATE messages SET body = CAST(? AS BLOB), changed = ? WHERE id = ?",
                    arguments: [
                        String(decoding: body, as: UTF8.self), RowKey(room: 1, message.rev).rawValue,
                        RowKey(room: 1, seq).rawValue,
                    ])
            }
        }
    }

    @Test("are the messages of others after the mark, filed or not", arguments: [0, 16_384])
    func others(journalMessages: Int) throws {
        let log = try TestLog { $0.journalMessages = journalMessages }
        for sender in ["alice", "bob", "bob", "alice", "bob", "carol"] { try log.send(.init(sender: sender)) }
        func unread(_ user: String) throws -> [Int64?] {
            let summary = try log.summary(for: user)
            return [summary.read, summary.unread, summary.firstUnread]
        }
        #expect(try unread("alice") == [0, 4, 2])
        #expect(try unread("bob") == [0, 3, 1])
        #expect(try unread("dave") == [0, 6, 1])
        try log.read(to: 1, as: "bob")
        #expect(try unread("bob") == [1, 2, 4])
        try log.read(to: 4, as: "alice")
        #expect(try unread("alice") == [4, 2, 5])
        try log.read(to: 6, as: "alice")
        #expect(try unread("alice") == [6, 0, nil])
        let nobody = try log.summary(for: nil)
        #expect(nobody.head == 6 && nobody.read == nil && nobody.unread == nil && nobody.firstUnread == nil)
    }

    @Test("goes across what is filed and what is not")
    func halfFiled() throws {
        let log = try TestLog {
            $0.journalMessagesOfRoom = 10
            $0.filingDelay = 1_000_000
        }
        for _ in 0..<25 { try log.send(.init()) }
        let filed = try log.sql { try Int.fetchOne($0, sql: "SELECT count(*) FROM messages") }!
        #expect(filed > 0 && filed < 25)
        for mark in 0...25 as ClosedRange<Int64> {
            try log.read(to: mark, as: "bob")
            let summary = try log.summary(for: "bob")
            #expect(summary.unread == 25 - mark)
            #expect(summary.firstUnread == (mark < 25 ? mark + 1 : nil))
        }
    }

    @Test("leaves out what is deleted, and nothing that only looks so")
    func deleted() throws {
        let log = try TestLog { $0.journalMessages = 0 }
        try log.fill(4)
        try log.send(.init(text: #","deleted":true}"#, data: #"{"deleted":true}"#))
        try log.sql { try $0.execute(sql: "UPDATE messages SET changed = id + 100 WHERE id & 7 = 5") }
        try delete(1..<3, in: log)
        try delete(4..<5, in: log)
        let summary = try log.summary(for: "bob")
        #expect(summary.unread == 2 && summary.firstUnread == 3)
    }

    @Test("is counted up to 1000", arguments: [0, 16_384])
    func counted(journalMessages: Int) throws {
        let log = try TestLog { $0.journalMessages = journalMessages }
        try log.fill(999)
        #expect(try log.summary(for: "bob").unread == 999)
        for _ in 0..<2 {
            try log.fill(1)
            #expect(try log.summary(for: "bob").unread == 1000)
        }
        try log.read(to: 2, as: "bob")
        #expect(try log.summary(for: "bob").unread == 999)
        #expect(UnreadMessages.maximumCount == 1000)
    }

    @Test("is found behind thousands of one's own and deleted messages, filed or not", arguments: [0, 16_384])
    func behindOwn(journalMessages: Int) throws {
        let log = try TestLog { $0.journalMessages = journalMessages }
        let own = 6000
        try log.fill(own)
        #expect(try log.summary(for: "alice").unread == 0)
        #expect(try log.summary(for: "alice").firstUnread == nil)
        for count in 1...2 as ClosedRange<Int64> {
            try log.send(.init(sender: "bob"))
            try log.fill(1)
            for _ in 0..<2 {
                let summary = try log.summary(for: "alice")
                #expect(summary.unread == count && summary.firstUnread == Int64(own) + 1)
            }
        }
        try log.read(to: Int64(own) + 1, as: "alice")
        #expect(try log.summary(for: "alice").unread == 1)
        #expect(try log.summary(for: "alice").firstUnread == Int64(own) + 3)
        #expect(try log.summary(for: "bob").unread == 1000)
        #expect(try log.summary(for: "bob").firstUnread == 1)
    }

    @Test("is counted across thousands of deleted messages")
    func acrossDeleted() throws {
        let log = try TestLog { $0.journalMessages = 0 }
        try log.fill(6002)
        try delete(2..<6002, in: log)
        let summary = try log.summary(for: "bob")
        #expect(summary.unread == 2 && summary.firstUnread == 1)
        try delete(1..<2, in: log)
        for _ in 0..<2 {
            let summary = try log.summary(for: "bob")
            #expect(summary.unread == 1 && summary.firstUnread == 6002)
        }
        try delete(6002..<6003, in: log)
        #expect(try log.summary(for: "bob").unread == 0)
    }

    @Test("is looked for among so many messages behind the first, and is what lies behind them")
    func scanned() throws {
        #expect(UnreadMessages.maximumScan == 100_000)
        var unread = UnreadMessages(mark: 10)
        for seq in 11...50_000 as ClosedRange<Int64> where unread.goesOn { unread.add(isUnread: seq == 20_000) }
        unread.finish(head: 50_000)
        #expect(unread.count == 1 && unread.first == 20_000)
        // Of a million own messages behind one of somebody else, those behind the bound are taken for unread.
        unread = UnreadMessages(mark: 0)
        unread.add(isUnread: true)
        while unread.goesOn { unread.add(isUnread: false) }
        unread.finish(head: 1_000_000)
        #expect(unread.last == UnreadMessages.maximumScan + 1 && unread.count == 1000 && unread.first == 1)
    }

    @Test("runs of nothing unread are remembered when they are long, and not too many of them")
    func cleared() throws {
        var runs = ClearedRuns()
        let (alice, bob) = (try UserID("alice"), try UserID("bob"))
        runs.add(1, for: alice, from: 10, through: 9 + ClearedRuns.minimum)
        #expect(runs.end(of: 1, for: alice) == 0)
        runs.add(1, for: alice, from: 10, through: 10 + ClearedRuns.minimum)
        #expect(runs.end(of: 1, for: alice) == 10 + ClearedRuns.minimum)
        #expect(runs.end(of: 1, for: bob) == 0 && runs.end(of: 2, for: alice) == 0)
        for room in 2...Int64(ClearedRuns.limit) { runs.add(room, for: alice, from: 0, through: 1000) }
        #expect(runs.end(of: 1, for: alice) > 0)
        runs.add(0, for: alice, from: 0, through: 1000)
        #expect(runs.end(of: 1, for: alice) == 0 && runs.end(of: 0, for: alice) == 1000)
    }
}
