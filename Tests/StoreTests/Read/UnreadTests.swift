import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Unread messages")
struct UnreadTests {
    /// Turns messages of the first room into tombstones, like a delete.
    private func delete(_ seqs: Range<Int64>, in log: TestLog) throws {
        let rows = try seqs.map { seq in
            let message = Message(
                room: try RoomID("lobby"), seq: seq, rev: 10_000 + seq, sender: try UserID("alice"),
                content: Content(), createdAt: .earliest, deleted: true)
            var body: [UInt8] = []
            message.encode(into: &body)
            return
                "(\(RowKey(room: 1, seq).rawValue), \(RowKey(room: 1, message.rev).rawValue), \(TestLog.literal(body)))"
        }
        try log.execute(
            """
            WITH deleted (id, changed, body) AS (VALUES \(rows.joined(separator: ", ")))
            UPDATE messages SET body = deleted.body, changed = deleted.changed FROM deleted WHERE messages.id = deleted.id
            """)
    }

    @Test(arguments: TestStore.journals(0, 16_384))
    func `are those of others after the mark, filed or not`(journalMessages: Int) throws {
        let log = try TestLog { $0.journal.messages = journalMessages }
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

    @Test(.onSQLite(.journal))
    func `are counted across filed and unfiled ones`() throws {
        let log = try TestLog {
            $0.journal.messagesOfRoom = 10
            $0.journal.idleTime = 1_000_000
        }
        for _ in 0..<25 { try log.send(.init()) }
        let filed = try log.count("messages")
        #expect(filed > 0 && filed < 25)
        for mark in 0...25 as ClosedRange<Int64> {
            try log.read(to: mark, as: "bob")
            let summary = try log.summary(for: "bob")
            #expect(summary.unread == 25 - mark)
            #expect(summary.firstUnread == (mark < 25 ? mark + 1 : nil))
        }
    }

    @Test func `do not include deleted ones, nor others that look similar`() throws {
        let log = try TestLog { $0.journal.messages = 0 }
        try log.fill(4)
        try log.send(.init(text: #","deleted":true}"#, data: #"{"deleted":true}"#))
        try log.execute("UPDATE messages SET changed = id + 100 WHERE id & 7 = 5")
        try delete(1..<3, in: log)
        try delete(4..<5, in: log)
        let summary = try log.summary(for: "bob")
        #expect(summary.unread == 2 && summary.firstUnread == 3)
    }

    @Test(arguments: TestStore.journals(0, 16_384))
    func `are counted up to 1000`(journalMessages: Int) throws {
        let log = try TestLog { $0.journal.messages = journalMessages }
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

    @Test(
        arguments: TestStore.journals(0, 16_384)
    )
    func `are found behind thousands of own and deleted messages, filed or not`(journalMessages: Int) throws {
        let log = try TestLog { $0.journal.messages = journalMessages }
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

    @Test func `are counted across thousands of deleted messages`() throws {
        let log = try TestLog { $0.journal.messages = 0 }
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

    @Test func `are searched within a bound; messages beyond it count as unread`() throws {
        #expect(UnreadMessages.maximumScan == 100_000)
        var unread = UnreadMessages(mark: 10)
        for seq in 11...50_000 as ClosedRange<Int64> where unread.goesOn { unread.add(isUnread: seq == 20_000) }
        unread.finish(head: 50_000)
        #expect(unread.count == 1 && unread.first == 20_000)
        // After one message of another user there are a million own ones. Those beyond the bound count as unread.
        unread = UnreadMessages(mark: 0)
        unread.add(isUnread: true)
        while unread.goesOn { unread.add(isUnread: false) }
        unread.finish(head: 1_000_000)
        #expect(unread.last == UnreadMessages.maximumScan + 1 && unread.count == 1000 && unread.first == 1)
        // The database counts filed messages within the same bounds.
        for (head, count) in [(50_000, 1), (100_001, 1), (100_003, 3), (1_000_000, 1000)] as [(Int64, Int64)] {
            unread = UnreadMessages(mark: 0)
            unread.add(UnreadMessages.Found(first: 1, count: 1), through: head)
            unread.finish(head: head)
            #expect(unread.count == count && unread.first == 1)
        }
    }

    @Test(arguments: TestStore.journals((1, 0), (2, 16_384), (3, 20)))
    func `are a place: the first undeleted message of others after the mark, or the newest`(
        seed: UInt64, journalMessages: Int
    ) throws {
        var generator = SeededGenerator(seed: seed)
        let log = try TestLog {
            $0.journal.messages = journalMessages
            $0.journal.idleTime = 1_000_000
        }
        var senders: [String] = []
        var deleted: Set<Int64> = []
        var marks = ["alice": Int64(0), "bob": 0]
        for _ in 0..<60 {
            let sender = ["alice", "bob", "carol"].randomElement(using: &generator)!
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                try log.send(.init(sender: sender))
                senders.append(sender)
            }
            let head = Int64(senders.count)
            if Bool.random(using: &generator) {
                let seq = Int64.random(in: max(1, head - 5)...head, using: &generator)
                try log.delete(seq, as: senders[Int(seq) - 1])
                deleted.insert(seq)
            }
            for user in ["alice", "bob", "dave"] {
                if let mark = marks[user], Int.random(in: 0..<4, using: &generator) == 0 {
                    marks[user] = Int64.random(in: mark...head, using: &generator)
                    try log.read(to: marks[user]!, as: user)
                }
                let mark = marks[user] ?? 0
                let unread = (mark + 1..<head + 1).filter { senders[Int($0) - 1] != user && !deleted.contains($0) }
                let expected = ReadState(read: mark, unread: Int64(unread.count), firstUnread: unread.first)
                let page = try log.page(.around(.unread), limit: 1, for: user)
                #expect(page.firstSeq == unread.first ?? head && page.readState == expected)
                #expect(try log.page(.before(.unread), limit: 1, for: user).lastSeq == page.firstSeq - 1)
                #expect(try log.page(.after(.unread), limit: 1, for: user).hasAfter == (page.firstSeq + 1 < head))
                let atMark = try log.page(.around(.read), limit: 1, for: user)
                #expect(atMark.firstSeq == max(1, mark) && atMark.readState == expected)
            }
        }
    }

    @Test func `are not computed for other places, nor for a caller without a name`() throws {
        let log = try TestLog()
        try log.fill(3)
        for anchor in [.newest, .before(.last), .after(.seq(1)), .around(.first)] as [PageRequest.Anchor] {
            #expect(try log.page(anchor, for: "bob").readState == nil)
        }
        let page = try log.page(.around(.unread), limit: 1)
        #expect(page.readState == nil && page.firstSeq == 3)
        #expect(try log.page(.around(.unread), of: "unused", for: "bob").readState == ReadState())
    }

    @Test func `stay in the middle of a page that shrinks to its limit of bytes`() throws {
        let log = try TestLog { $0.answerBytes = 2000 }
        for _ in 0..<20 { try log.send(.init(text: String(repeating: "x", count: 500))) }
        try log.read(to: 9, as: "bob")
        let page = try log.page(.around(.unread), limit: 20, for: "bob")
        #expect(page.count < 10 && (page.firstSeq...page.lastSeq).contains(10))
        #expect(page.readState == ReadState(read: 9, unread: 11, firstUnread: 10))
    }

    @Test func `are not searched in remembered runs, whose number is bounded`() throws {
        var runs = ClearedRuns()
        let (alice, bob) = (try UserID("alice"), try UserID("bob"))
        runs.add(1, for: alice, from: 10, through: 9 + ClearedRuns.minimum)
        #expect(runs.end(of: 1, for: alice, after: 10) == 0)
        runs.add(1, for: alice, from: 10, through: 10 + ClearedRuns.minimum)
        #expect(runs.end(of: 1, for: alice, after: 10) == 10 + ClearedRuns.minimum)
        #expect(runs.end(of: 1, for: bob, after: 10) == 0 && runs.end(of: 2, for: alice, after: 10) == 0)
        // The mark of an erased user is before it.
        #expect(runs.end(of: 1, for: alice, after: 9) == 0)
        runs.add(1, for: alice, from: 10 + ClearedRuns.minimum, through: 10 + 2 * ClearedRuns.minimum)
        #expect(runs.end(of: 1, for: alice, after: 10) == 10 + 2 * ClearedRuns.minimum)
        for room in 2...Int64(ClearedRuns.limit) { runs.add(room, for: alice, from: 0, through: 1000) }
        #expect(runs.end(of: 1, for: alice, after: 10) > 0)
        runs.add(0, for: alice, from: 0, through: 1000)
        #expect(runs.end(of: 1, for: alice, after: 10) == 0 && runs.end(of: 0, for: alice, after: 0) == 1000)
    }
}
