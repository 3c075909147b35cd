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

    @Test("is looked for among so many messages, and is what lies behind them")
    func scanned() throws {
        let scan = UnreadMessages.maximumScan
        #expect(scan == 5000)
        for (own, others, count, first) in [
            (scan - 1, 1, 1, scan), (scan, 1, 1, scan + 1), (scan, 0, 0, nil), (scan - 1, 0, 0, nil),
        ] as [(Int64, Int64, Int64, Int64?)] {
            var unread = UnreadMessages(mark: 10)
            for seq in 1...(own + others) where unread.goesOn { unread.add(isUnread: seq > own) }
            unread.finish(head: 10 + own + others)
            #expect(unread.count == count && unread.first == first.map { $0 + 10 })
        }
        // Of a million own messages, those behind the bound are taken for unread.
        var unread = UnreadMessages(mark: 0)
        while unread.goesOn { unread.add(isUnread: false) }
        unread.finish(head: 1_000_000)
        #expect(unread.last == scan && unread.count == 1000 && unread.first == scan + 1)
    }
}
