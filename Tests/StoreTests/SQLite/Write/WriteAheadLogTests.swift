import Chat
import GRDB
import Glibc
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The write-ahead log", .partOfSQLite(.files))
struct WriteAheadLogTests {
    /// Returns the size of the log's file in pages.
    private func pages(_ log: TestLog) -> Int {
        var status = stat()
        guard stat(log.path + "-wal", &status) == 0 else { return 0 }
        // Each page has a header of 24 bytes (SQLite's file format, 4.1).
        return Int(status.st_size) / (StoreConfiguration.pageSize + 24)
    }

    @Test func `restarts when it has become long`() throws {
        // Without the pages of the new tables.
        let log = try TestLog().reopened { $0.checkpointPages = 50 }
        for number in 0..<200 {
            try log.send(.init(text: "\(number)"))
            // The bound, and the pages that a commit adds before the checkpoint.
            #expect(pages(log) < 80)
        }
        #expect(try log.page(.after(.seq(0)), limit: 200).count == 200)
    }

    @Test func `restarts also if the log's own readers are always active`() throws {
        let log = try TestLog { $0.checkpointPages = 50 }
        for number in 0..<200 {
            // Not waited for: it is read while the next one is written.
            log.log.fetch(try (0..<20).map { _ in try log.query({ .page(PageRequest(limit: 200), $0) }) })
            try log.send(.init(text: "\(number)"))
            #expect(pages(log) < 300)
        }
    }

    @Test func `grows during another program's read, which delays nobody for long, and restarts afterwards`() throws {
        let log = try TestLog {
            $0.journal.messages = 0
            $0.checkpointPages = 10
        }
        try log.fill(1)
        try DatabaseQueue(path: log.path).read { db in
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM messages") == 1)
            for _ in 0..<20 { try log.send(.init(text: String(repeating: "x", count: 10_000))) }
            #expect(pages(log) > 40)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM messages") == 1)
        }
        for number in 0..<120 { try log.send(.init(text: "\(number)")) }
        // Each message takes two pages or more. The checkpoint comes after the answer, so the size now is of any moment
        // between two restarts.
        #expect(pages(log) < 40)
        #expect(try log.state().head == 141)
    }

    @Test func `holds a commit that cannot be checkpointed, which counts as stored`() throws {
        let log = try TestLog {
            $0.checkpointPages = 10
            $0.busyTimeout = 1
        }
        // Another program's read prevents the checkpoint.
        try DatabaseQueue(path: log.path).read { db in
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM messages")
            let bodies = try log.fill(150)
            #expect(log.log.failure == nil)
            #expect(try log.page(.newest, limit: 200).messages == joined(bodies))
        }
    }
}
