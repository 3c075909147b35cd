import Chat
import GRDB
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A commit that fails")
struct FailureTests {
    private func makeLog() throws -> TestLog {
        try TestLog { DatabaseFailure.configure(&$0) }
    }

    @Test func `answers its submissions with 503, pushes nothing, and leaves earlier messages`() throws {
        let log = try makeLog()
        let before = try log.fill(2)
        let failure = try DatabaseFailure(of: log)
        try failure.begin()
        let results = try log.sendAll([.init(text: "a", id: "1"), .init(text: "b"), .init(text: "c", room: "new")])
        for result in results {
            let problem = #expect(throws: Problem.self) { try result.get() }
            #expect(problem?.status == 503 && problem?.code == .unavailable && problem?.retryAfter == 1)
            if let word = failure.word { #expect(problem?.detail.contains(word) == true) }
        }
        #expect(log.listener.commits.events.dropFirst().allSatisfy { $0.batches.isEmpty })
        #expect(try log.page().messages == joined(before))
        try failure.end()
    }

    @Test func `leaves its places to the next ones, when the cause is gone`() throws {
        let log = try makeLog()
        let failure = try DatabaseFailure(of: log)
        var expected: Int64 = 0
        for round in 0..<3 {
            try failure.begin()
            let failed = try log.sendAll([.init(text: "\(round)", id: "\(round)"), .init(text: "x", room: "r\(round)")])
            #expect(failed.allSatisfy { (try? $0.get()) == nil })
            try failure.end()
            let stored = try log.sendAll([.init(text: "\(round)", id: "\(round)"), .init(text: "x", room: "r\(round)")])
                .map { try $0.get() }
            expected += 1
            #expect(stored.map(\.seq) == [expected, 1] && stored.allSatisfy(\.isNew))
            #expect(log.log.failure == nil)
        }
    }

    @Test(.onSQLite(.files))
    func `is detected as over by the writer itself`() throws {
        let health = Recorder<String?>()
        let log = try TestLog {
            $0.busyTimeout = 1
            // It would write between the failures, too.
            $0.indexes = false
            $0.probeInterval = 1
            $0.onHealthChange = { health.record($0) }
        }
        let failure = try DatabaseFailure(of: log)
        try failure.begin()
        // Probes fail between them.
        for _ in 0..<30 { _ = try log.sendAll([.init()]) }
        #expect(log.log.failure != nil)
        // Reported once, not for each of them.
        #expect(health.events.count == 1 && health.events[0]?.contains("locked") == true)
        try failure.end()
        #expect(try health.wait(for: 2)[1] == nil)
        #expect(log.log.failure == nil)
        #expect(try log.send(.init()).seq == 1)
        // The probes' rows are gone.
        log.close()
        #expect(
            try log.sql { try String.fetchAll($0, sql: "SELECT key FROM meta") } == ["epoch", "fingerprint_secret"])
    }

    @Test(.onSQLite(.journal))
    func `in the middle is rolled back as a whole`() throws {
        let log = try makeLog()
        try log.sql { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER poison BEFORE INSERT ON journal WHEN instr(NEW.messages, CAST('poison' AS BLOB))
                    BEGIN SELECT RAISE(ABORT, 'poisoned'); END
                    """)
        }
        let first = try log.send(.init(text: "first", room: "old"))
        let results = try log.sendAll([
            .init(text: "a", room: "old"), .init(text: "b", room: "new", id: "b"), .init(id: "poison"), .init(),
        ])
        for result in results {
            #expect(throws: Problem.unavailable("The message could not be stored: poisoned.")) { try result.get() }
        }
        #expect(try log.state(of: "old") == RoomState(head: 1, rev: 1))
        #expect(try log.state(of: "new") == RoomState())
        #expect(try log.message("b", from: "alice", of: "new") == nil)
        let stored = try log.sendAll([.init(text: "b", room: "new", id: "b"), .init(text: "a", room: "old")])
            .map { try $0.get() }
        #expect(stored.map(\.seq) == [1, 2] && stored.allSatisfy(\.isNew))
        #expect(try log.page(of: "old").messages == joined([first.body, stored[1].body]))
    }
}
