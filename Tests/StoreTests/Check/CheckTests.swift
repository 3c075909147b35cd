import Chat
import GRDB
import Glibc
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A check", .partOfSQLite(.files))
struct CheckTests {
    @Test func `of an open database finds everything sound, in tables and in the journal`() throws {
        let log = try TestLog { $0.journal.idleTime = 60_000 }
        try Self.fill(log)
        let report = try DatabaseCheck(log.path).run()
        #expect(report.isSound && report.damages.isEmpty && report.notes.isEmpty, "\(report)")
        #expect(report.rooms == 5 && report.messages == 95)
        log.close()
        let closed = try DatabaseCheck(log.path).run()
        #expect(closed.isSound && closed.rooms == 5 && closed.messages == 95)
        #expect(access(log.path + "-wal", F_OK) != 0)
    }

    /// Fills five rooms with 95 messages, and makes every kind of change to them.
    static func fill(_ log: TestLog) throws {
        for room in ["a", "b", "c"] {
            try log.sendAll(
                (0..<30).map { .init(text: "\($0)", room: room, id: "id\($0)", replyTo: $0 == 0 ? nil : 1) })
        }
        for seq in 1...20 as ClosedRange<Int64> {
            for user in 0..<60 where seq < 3 { try log.react(to: seq, of: "a", as: "user\(user)") }
            try log.react("+1", to: seq, of: "b")
            if seq % 2 == 0 { try log.unreact("+1", to: seq, of: "b") }
            if seq % 3 == 0 { try log.edit(seq, "edited", of: "a") }
            if seq % 5 == 0 { try log.delete(seq, of: "b") }
            try log.read(to: seq, in: "c", as: "user\(seq)")
        }
        for user in ["user7", "user59", "user0"] { try log.unreact(to: 1, of: "a", as: user) }
        try log.fill(3, "a")
        try log.fill(2, "new")
        _ = try log.change(.set(RoomSettings(visibility: .private)), in: "empty", by: "alice")
    }

    @Test func `of an empty database finds nothing`() throws {
        let log = try TestLog()
        let report = try DatabaseCheck(log.path).run()
        #expect(report.isSound && report.rooms == 0 && report.messages == 0)
    }

    @Test func `shows one moment, whatever is sent meanwhile`() throws {
        let log = try TestLog { $0.journal.messagesOfRoom = 7 }
        try log.fill(100)
        for _ in 0..<5 {
            let report = try DatabaseCheck(log.path).run(progress: { _, _ in _ = try? log.fill(3) })
            #expect(report.isSound, "\(report.damages)")
        }
    }

    @Test func `changes nothing, and reports its progress`() throws {
        let log = try TestLog()
        for _ in 0..<11 { try log.fill(1000) }
        log.close()
        let before = try run("cksum", log.path)
        let parts = Recorder<String>()
        _ = try DatabaseCheck(log.path).run(progress: { part, count in parts.record("\(part.rawValue) \(count)") })
        #expect(try run("cksum", log.path) == before)
        #expect(Set(parts.events).isSuperset(of: ["file 0", "messages 10000", "journal 0", "people 0"]))
    }

    @Test func `keeps the first findings and counts all`() throws {
        let log = try TestLog { $0.journal.messages = 0 }
        try log.fill(50)
        log.close()
        try log.sql { try $0.execute(sql: "UPDATE messages SET body = x'7b7d'") }
        let report = try DatabaseCheck(log.path, mostFindings: 5).run()
        #expect(report.damageCount == 50 && report.damages.count == 5)
        #expect(report.damages.map(\.seq) == [1, 2, 3, 4, 5])
        #expect(report.damages[0].description.hasPrefix("room lobby, seq 1: the snapshot cannot be read"))
    }

    @Test func `refuses a foreign file or a newer version`() throws {
        let directory = try TemporaryDirectory()
        func refusal(_ path: String) -> String? {
            #expect(throws: StoreError.self) { try DatabaseCheck(path).run() }?.description
        }
        let none = directory.path(of: "none")
        #expect(refusal(none) == "there is no database at \(none)")
        #expect(refusal(directory.path)?.contains("is not a file") == true)
        let diary = try directory.write(String(repeating: "Dear diary! ", count: 1000), to: "diary.txt")
        #expect(refusal(diary) == "\(diary) is not a database of Backscroll")
        let log = try TestLog()
        try log.sql { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('v99')") }
        #expect(refusal(log.path)?.contains("newer version") == true)
    }

    @Test func `of an older version checks its file and tables`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "old.db")
        try makeDatabase(at: path, upTo: "v2")
        let old = try DatabaseQueue(path: path)
        try old.write { try $0.execute(sql: "INSERT INTO rooms VALUES (1, 'lobby')") }
        let report = try DatabaseCheck(path).run()
        #expect(report.isSound && report.notes.count == 2 && report.rooms == 1)
        try old.write { try $0.execute(sql: "DROP TABLE journal") }
        #expect(try DatabaseCheck(path).run().damages.map(\.text) == ["the table journal is missing"])
    }

    @Test func `names rooms with damaged names readably`() {
        #expect("\(Finding(room: "lobby", seq: 3, text: "x"))" == "room lobby, seq 3: x")
        #expect("\(Finding(room: "a\n\u{1B}b", seq: nil, text: "x"))" == #"room "a\n\u{1B}b": x"#)
        #expect("\(Finding(text: "x"))" == "x")
    }
}
