import Chat
import GRDB
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The journal", .partOfSQLite(.journal))
struct JournalTests {
    /// Returns the number of rows in the two tables, through another connection.
    private func counts(_ log: TestLog) throws -> [Int] {
        try log.sql { db in
            try ["journal", "messages"].map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)")! }
        }
    }

    /// Creates a log that files a few messages at a time.
    private func makeLog(_ configure: (inout StoreConfiguration) -> Void = { _ in }) throws -> TestLog {
        try TestLog {
            $0.journal.messages = 10
            $0.journal.messagesOfRoom = 6
            configure(&$0)
        }
    }

    @Test func `holds a commit in one row until its messages are filed`() throws {
        let log = try TestLog()
        try log.fill(20)
        try log.fill(5, "attic")
        #expect(try counts(log) == [2, 0])
        log.close()
        #expect(try counts(log) == [0, 25])
    }

    @Test func `is emptied while idle`() throws {
        let log = try TestLog { $0.journal.idleTime = 1 }
        for number in 0..<20 { try log.fill(30, "room\(number)") }
        try waitUntil { (try? counts(log)) == [0, 600] }
        #expect(try log.fill(1, "room3").count == 1)
        #expect(try log.state(of: "room3").head == 31)
    }

    @Test func `keeps its bounds during many sends`() throws {
        let log = try makeLog()
        for number in 0..<300 { try log.fill(3, "room\(number % 7)") }
        // Each commit deletes two obsolete rows and adds one.
        let counts = try counts(log)
        #expect(counts[0] <= 12)
        #expect(counts[1] >= 900 - 10 - 3)
    }

    @Test func `reuses the pages of obsolete rows`() throws {
        let log = try makeLog()
        // Each takes several pages, and is filed by every second commit.
        let sends = (0..<3).map { _ in TestLog.Send(text: String(repeating: "x", count: 8000)) }
        for _ in 0..<40 { _ = try log.sendAll(sends) }
        let free = try log.sql { try Int.fetchOne($0, sql: "PRAGMA freelist_count")! }
        #expect(free <= 12)
    }

    @Test(arguments: [1, 2, 3])
    func `makes no difference to readers`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let log = try makeLog()
        var bodies: [String: [[UInt8]]] = [:]
        for round in 0..<120 {
            let room = ["a", "b", "c"].randomElement(using: &generator)!
            let id = "id\(bodies[room]?.count ?? 0)"
            let stored = try log.send(.init(text: "\(round)", room: room, id: id))
            bodies[room, default: []].append(stored.body)
            let all = bodies[room]!
            let head = Int64(all.count)
            #expect(try log.state(of: room) == RoomState(head: head, rev: head))

            let seq = Int64.random(in: 0...head + 1, using: &generator)
            #expect(try log.message(seq, of: room) == (all.indices.contains(Int(seq) - 1) ? all[Int(seq) - 1] : nil))
            let since = Int64.random(in: 0...head, using: &generator)
            let limit = Int.random(in: 1...20, using: &generator)
            let changes = try log.changes(since: since, limit: limit, of: room)
            #expect(changes.messages == joined(all.dropFirst(Int(since)).prefix(limit)))
            #expect(changes.hasMore == (all.count - Int(since) > limit))
            #expect(try log.page(.newest, limit: limit, of: room).messages == joined(all.suffix(limit)))
            let number = Int.random(in: 0..<all.count, using: &generator)
            #expect(try log.message("id\(number)", from: "alice", of: room) == all[number])
            #expect(try log.message("id\(number)", from: "bob", of: room) == nil)
        }
    }

    @Test func `finds client message ids in itself, in the tables and in the current commit`() throws {
        let log = try makeLog()
        for round in 0..<40 as Range<Int64> {
            #expect(try log.send(.init(id: "id\(round)")).isNew)
            for number in [0, round / 2, max(0, round - 3), round] {
                let again = try log.send(.init(id: "id\(number)"))
                #expect(again.seq == number + 1 && !again.isNew)
                #expect(throws: Problem.clientMessageIDReused) { try log.send(.init(text: "other", id: "id\(number)")) }
            }
        }
        #expect(try log.state().head == 40)
    }

    @Test func `is unchanged after a crash at any moment between a commit and its filing`() throws {
        let log = try makeLog()
        var bodies: [[UInt8]] = []
        for round in 0..<25 {
            bodies.append(try log.send(.init(id: "id\(round)")).body)
            try log.fill(2, "room\(round % 3)")
            let directory = try TemporaryDirectory()
            for suffix in ["", "-wal"] { try run("cp", log.path + suffix, directory.path(of: "log.db" + suffix)) }
            let again = try TestLog(in: directory)
            #expect(try again.page(.newest, limit: 200).messages == joined(bodies))
            #expect(try again.state(of: "room0").head == Int64(round / 3 * 2 + 2))
            #expect(try again.send(.init(id: "id\(round / 2)")).seq == Int64(round / 2 + 1))
            #expect(try again.send(.init(id: "new")).seq == Int64(bodies.count + 1))
            again.close()
            #expect(try again.sql { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
            #expect(try counts(again)[0] == 0)
        }
    }

    @Test func `prevents opening the database if it cannot be read`() throws {
        for damage in ["UPDATE journal SET messages = x'01'", "DELETE FROM journal WHERE id = 1"] {
            let log = try TestLog()
            try log.fill(1)
            try log.fill(1)
            let directory = try TemporaryDirectory()
            for suffix in ["", "-wal"] { try run("cp", log.path + suffix, directory.path(of: "log.db" + suffix)) }
            let path = directory.path(of: "log.db")
            try DatabaseQueue(path: path).write { try $0.execute(sql: damage) }
            let error = #expect(throws: StoreError.self) { try SQLiteLog(path: path, observer: Listener()) }
            #expect(error?.description.contains("journal") == true)
        }
    }

    @Test func `loses nothing if a commit fails to file`() throws {
        var log = try makeLog()
        var bodies = try log.fill(6)
        try log.sql { db in
            try db.execute(
                sql: "CREATE TRIGGER full BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'no more'); END")
        }
        #expect(throws: Problem.roomUnavailable) { try log.send(.init()) }
        #expect(try log.page().messages == joined(bodies))
        try log.sql { try $0.execute(sql: "DROP TRIGGER full") }
        log = try log.reopened()
        bodies += try log.fill(3)
        #expect(try log.page().messages == joined(bodies))
        log.close()
        #expect(try counts(log) == [0, 9])
    }

    @Test func `can be turned off, so that each commit files its messages`() throws {
        let log = try TestLog { $0.journal.messages = 0 }
        try log.fill(3)
        #expect(try counts(log) == [0, 3])
    }

    @Test func `gives pages of one moment, without gaps, while messages are filed`() throws {
        let log = try makeLog()
        try log.fill(5)
        inParallel(3) { thread in
            for _ in 0..<150 {
                if thread == 0 {
                    try log.fill(3)
                } else {
                    let page = try log.page(.newest, limit: 30)
                    #expect(page.lastSeq == page.state.head && page.state.rev == page.state.head)
                    let messages = try Messages(decoding: page.messages)
                    #expect(messages.seqs == Array(page.firstSeq...page.lastSeq))
                }
            }
        }
    }
}

/// The places of a page's messages.
private struct Messages {
    let seqs: [Int64]

    init(decoding page: [UInt8]) throws {
        let text = String(decoding: page, as: UTF8.self)
        seqs = text.split(separator: #""seq":"#).dropFirst().map { Int64($0.prefix { $0.isNumber })! }
    }
}
