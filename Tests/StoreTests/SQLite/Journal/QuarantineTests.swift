import Chat
import GRDB
import Glibc
import TestSupport
import Testing
import Wire

@testable import Store

/// Pages of a database that a test damages.
struct DamagedPage {
    private let path: String
    private let number: Int
    private let content: [UInt8]

    private static let size = StoreConfiguration.pageSize

    /// Finds the page of a table or index that holds a text, the last one of several. The log must be closed.
    init(of table: String, with text: String, in log: TestLog) throws {
        path = log.path
        let numbers = try log.sql {
            try Int.fetchAll(
                $0, sql: "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", arguments: [table])
        }
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var found: (Int, [UInt8])?
        var page = [UInt8](repeating: 0, count: Self.size)
        for number in numbers {
            #expect(pread(file, &page, Self.size, off_t((number - 1) * Self.size)) == Self.size)
            if String(decoding: page, as: UTF8.self).contains(text) { found = (number, page) }
        }
        (number, content) = try #require(found)
    }

    /// Overwrites the page with garbage.
    func damage() throws { try write([UInt8](repeating: 0xA5, count: Self.size)) }

    /// Puts the page back as it was.
    func repair() throws { try write(content) }

    /// Another process writes: closing the file in this one would take away the locks of a log that has it open.
    private func write(_ bytes: [UInt8]) throws {
        let source = path + ".page"
        let file = open(source, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        #expect(Glibc.write(file, bytes, bytes.count) == bytes.count)
        close(file)
        try run(
            "dd", "if=\(source)", "of=\(path)", "bs=\(Self.size)", "seek=\(number - 1)", "count=1", "conv=notrunc",
            "status=none")
    }
}

@Suite("A room whose part of the database is damaged", .partOfSQLite(.files))
struct QuarantineTests {
    private static let rooms = (0..<16).map { "r\($0)" }

    private let reports = Recorder<String>()

    private func configure(_ configuration: inout StoreConfiguration) {
        configuration.onQuarantine = { [reports] room, reason in reports.record("\(room): \(reason)") }
    }

    /// A closed log of rooms whose last messages lie on pages of their own, and so do their client message ids.
    private func closedLog() throws -> TestLog {
        let log = try TestLog()
        let text = String(repeating: "x", count: 3000)
        for room in Self.rooms {
            try log.sendAll(
                (1...64).map { .init(text: $0 > 58 ? text : "short", room: room, id: Self.id($0, of: room)) })
        }
        log.close()
        return log
    }

    private static func id(_ number: Int, of room: String) -> String {
        "\(room)-\(number)-" + String(repeating: "i", count: 100)
    }

    private func pageOfMessages(_ log: TestLog) throws -> DamagedPage {
        try DamagedPage(of: "messages", with: #""room":"r3","seq":64,"#, in: log)
    }

    /// Sends to every room in turn and files what was sent: the room that is quarantined is the only one that notices.
    private func expectOthersGoOn(_ log: TestLog, from seq: Int64) throws {
        for round in 0..<4 as Range<Int64> {
            let results = try log.sendAll(Self.rooms.map { .init(room: $0, id: "round \(round)") })
            for (room, result) in zip(Self.rooms, results) {
                if room == "r3" {
                    #expect(throws: Problem.roomUnavailable) { try result.get() }
                } else {
                    #expect(try result.get().seq == seq + round, "\(room)")
                }
            }
        }
        #expect(throws: Problem.roomUnavailable) { try log.edit(1, "x", of: "r3") }
        #expect(throws: Problem.roomUnavailable) { try log.read(to: 1, in: "r3", as: "bob") }
        #expect(try log.edit(60, "x", of: "r4").rev == seq + 4)
        #expect(try log.read(to: 1, in: "r2", as: "bob").seq == 1)
        #expect(log.log.quarantinedRooms == 1 && log.log.failure == nil)
        #expect(reports.events.count == 1 && reports.events[0].hasPrefix("r3: "))
        #expect(reports.events[0].contains("checksum"))
    }

    private func journalRows(_ log: TestLog) throws -> [Int64] {
        try log.sql { try Int64.fetchAll($0, sql: "SELECT id FROM journal ORDER BY id") }
    }

    private func expectSound(_ log: TestLog) throws {
        log.close()
        let report = try DatabaseCheck(log.path).run()
        #expect(report.isSound, "\(report.damages)")
    }

    @Test func `is quarantined when a send finds it, and the sends of the same commit to other rooms are stored`()
        throws
    {
        let closed = try closedLog()
        try pageOfMessages(closed).damage()
        let log = try closed.reopened {
            configure(&$0)
            $0.journal.messages = 20
        }
        try expectOthersGoOn(log, from: 65)
        log.close()
        #expect(try journalRows(log).isEmpty)
    }

    @Test func `is quarantined when its messages cannot be filed, and what was acknowledged is stored after a repair`()
        throws
    {
        let closed = try closedLog()
        let page = try pageOfMessages(closed)
        let log = try closed.reopened {
            configure(&$0)
            // The writer has no page in memory that it has not just read.
            $0.writerCache = 64 * 1024
            $0.journal.messages = 20
            $0.journal.idleTime = 3_600_000
        }
        let sent = try Self.rooms.map { try log.send(.init(text: "new", room: $0, id: "new")).body }
        try page.damage()
        for seq in 1...40 as ClosedRange<Int64> { #expect(try log.send(.init(room: "other")).seq == seq) }
        _ = try reports.wait(for: 1)
        try expectOthersGoOn(log, from: 66)
        log.close()
        // Nothing but its messages is left in the journal.
        #expect(try journalRows(log) == [-1])

        let refusal = #expect(throws: StoreError.self) { try SQLiteLog(path: log.path, observer: Listener()) }
        #expect(refusal?.description.hasPrefix("\(log.path) is damaged and must be restored from a backup") == true)
        try page.repair()
        let again = try log.reopened()
        #expect(try again.message("new", from: "alice", of: "r3") == sent[3] && again.log.quarantinedRooms == 0)
        #expect(try again.send(.init(room: "r3")).seq == 66)
        try expectSound(again)
        #expect(try journalRows(again).isEmpty)
    }

    @Test func `is complete in an export when only an index is damaged`() throws {
        let closed = try closedLog()
        let page = try DamagedPage(of: "messages_by_client_message_id", with: Self.id(64, of: "r3"), in: closed)
        let log = try closed.reopened {
            configure(&$0)
            $0.writerCache = 64 * 1024
            $0.journal.messages = 20
            $0.journal.idleTime = 3_600_000
        }
        let new = Self.id(65, of: "r3")
        let sent = try log.send(.init(text: "new", room: "r3", id: new)).body
        for room in Self.rooms where room != "r3" { try log.send(.init(room: room, id: Self.id(65, of: room))) }
        try page.damage()
        try log.fill(40, "other")
        try log.fill(1, "other")
        _ = try reports.wait(for: 1)
        #expect(try log.page(limit: 1, of: "r3").messages == sent)
        try expectOthersGoOn(log, from: 66)
        let restored = try TestLog()
        restored.close()
        let file = open(log.path + ".jsonl", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let exported = try HistoryExport(of: log.path).run(to: file)
        lseek(file, 0, SEEK_SET)
        #expect(try HistoryImport(into: restored.path).run(from: file).messages == exported.messages)
        let again = try restored.reopened()
        #expect(try again.send(.init(text: "new", room: "r3", id: new)).body == sent)
        try expectSound(again)
    }

    @Test func `is left out of lists of rooms, which continue after it`() throws {
        let closed = try closedLog()
        try pageOfMessages(closed).damage()
        let log = try closed.reopened()
        var listed: [String] = []
        var next: InboxCursor?
        repeat {
            let slice = try log.inbox(of: "alice", after: next, limit: 1)
            listed += slice.rooms.map(\.summary.room.string)
            next = slice.next
        } while next != nil
        // The first messages of r4 lie on the same page, so its unread messages cannot be counted.
        #expect(listed.sorted() == Self.rooms.filter { $0 != "r3" && $0 != "r4" }.sorted())
    }

    @Test func `keeps no other room's messages from expiring`() throws {
        let closed = try closedLog()
        try DamagedPage(of: "messages", with: #""room":"r3","seq":1,"#, in: closed).damage()
        let events = Recorder<ExpiryEvent>()
        let log = try closed.reopened {
            $0.keepDays = 1
            $0.commit.expiredMessages = 1000
            $0.expiryPause = 1
            $0.clock = { Timestamp(milliseconds: Timestamp.now().milliseconds + 2 * 86_400_000) }
            $0.onExpiry = { events.record($0) }
        }
        _ = try events.wait { $0.contains { if case .passOver = $0 { true } else { false } } }
        for room in Self.rooms where !["r2", "r3", "r4"].contains(room) {
            #expect(try log.stored(64, of: room)?.body.count ?? .max < 1000, "\(room)")
        }
    }

    /// A log that cannot put mallory's messages in their places.
    private func brokenLog(_ more: (inout StoreConfiguration) -> Void = { _ in }) throws -> TestLog {
        let log = try TestLog {
            configure(&$0)
            $0.journal.idleTime = 3_600_000
            more(&$0)
        }
        try log.sql {
            try $0.execute(
                sql: """
                    CREATE TRIGGER damage BEFORE INSERT ON messages WHEN new.sender = 'mallory'
                    BEGIN SELECT raise(ABORT, 'damaged'); END
                    """)
        }
        return log
    }

    @Test func `keeps what was acknowledged over restarts until it can be stored`() throws {
        var log = try brokenLog()
        let body = try log.send(.init(text: "kept", room: "attic", sender: "mallory", id: "a")).body
        // A change needs the room's messages in their places. What is changed beside it is.
        let results = try log.submitAll([
            log.submission(.init(seq: 1, action: .delete, room: "attic", user: "mallory")),
            log.submissions([.init(room: "lobby")])[0],
        ])
        #expect(throws: Problem.roomUnavailable) { try results[0].get() }
        #expect(try results[1].get().seq == 1)
        #expect(reports.events.count == 1)
        for round in 2...4 {
            #expect(try log.page(of: "attic").messages == body)
            #expect(try log.message("a", from: "mallory", of: "attic") == body)
            log.close()
            #expect(try journalRows(log).count == 1)
            // It is tried again at once.
            log = try log.reopened {
                configure(&$0)
                $0.journal.idleTime = 0
            }
            _ = try reports.wait(for: round)
            #expect(throws: Problem.roomUnavailable) { try log.send(.init(room: "attic")) }
        }
        log.close()
        try log.sql { try $0.execute(sql: "DROP TRIGGER damage") }
        log = try log.reopened()
        #expect(try log.send(.init(room: "attic")).seq == 2)
        #expect(try log.send(.init(text: "kept", room: "attic", sender: "mallory", id: "a")).body == body)
        try expectSound(log)
        #expect(try journalRows(log).isEmpty)
    }

    @Test func `keeps a user with messages there from being reported as erased too early`() throws {
        let jobs = Recorder<JobEvent>()
        var log = try brokenLog {
            $0.jobRetry = 1
            $0.onJob = { jobs.record($0) }
        }
        try log.send(.init(room: "attic", sender: "mallory"))
        #expect(throws: Problem.roomUnavailable) { try log.delete(1, of: "attic", as: "mallory") }
        let mallory = try UserID("mallory")
        _ = try log.outcome(log.submission(.user(mallory, .erase), by: "root", isAdmin: true)).get()
        _ = try jobs.wait { $0.contains { if case .failed = $0 { true } else { false } } }
        log.close()
        try log.sql { try $0.execute(sql: "DROP TRIGGER damage") }
        log = try log.reopened { $0.onJob = { jobs.record($0) } }
        _ = try jobs.wait { $0.contains { if case .done = $0 { true } else { false } } }
        #expect(try String(decoding: log.page(of: "attic").messages, as: UTF8.self).contains("~deleted"))
    }

    @Test func `is not the only damage: unfinished jobs are done once they can be read`() throws {
        let events = Recorder<JobEvent>()
        var log = try TestLog()
        log.close()
        try log.sql { try $0.execute(sql: "INSERT INTO jobs (kind, number, phase, place) VALUES ('room', 999, 0, 0)") }
        let page = try DamagedPage(of: "jobs", with: "room", in: log)
        try page.damage()
        log = try log.reopened {
            $0.jobRetry = 1
            $0.onJob = { events.record($0) }
        }
        _ = try events.wait { $0.contains { if case .failed = $0 { true } else { false } } }
        #expect(try log.send(.init()).seq == 1)
        try page.repair()
        _ = try events.wait { $0.contains { if case .done = $0 { true } else { false } } }
        #expect(events.events.count == 2 && log.log.failure == nil)
    }

    @Test func `is one of a bounded number, beyond which nothing is stored until the database is repaired`() throws {
        let log = try brokenLog {
            $0.journal.quarantinedRooms = 1
            $0.journal.messages = 10
            $0.probeInterval = 1
        }
        for room in ["a", "b"] { try log.send(.init(room: room, sender: "mallory")) }
        _ = try log.sendAll((0..<20).map { _ in .init(room: "c") })
        for _ in 0..<3 {
            let problem = #expect(throws: Problem.self) { try log.send(.init(room: "d")) }
            #expect(problem?.code == .unavailable)
            #expect(log.log.failure?.contains("damaged") == true && log.log.quarantinedRooms == 1)
        }
        try log.sql { try $0.execute(sql: "DROP TRIGGER damage") }
        #expect(try log.send(.init(room: "d")).seq == 1)
        #expect(log.log.failure == nil)
    }

    @Test func `is not quarantined for one change that cannot be stored, which alone is refused`() throws {
        let log = try TestLog { configure(&$0) }
        try log.fill(8)
        try log.edit(8, "settled")
        try log.sql {
            try $0.execute(
                sql: """
                    CREATE TRIGGER damage BEFORE UPDATE ON messages WHEN old.id & 15 = 5
                    BEGIN SELECT raise(ABORT, 'damaged'); END
                    """)
        }
        let results = try log.submitAll(
            (1...7).map { try log.submission(.init(seq: $0, action: .edit(Edit(text: "edited")))) })
        for (index, result) in results.enumerated() {
            guard index == 4 else {
                #expect(throws: Never.self) { try result.get() }
                continue
            }
            let problem = #expect(throws: Problem.self) { try result.get() }
            #expect(problem?.code == .unavailable)
        }
        #expect(log.log.failure == nil && log.log.quarantinedRooms == 0)
        #expect(try log.state().rev == 15)
    }
}
