import Chat
import GRDB
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The read marks of a room")
struct RoomReadsTests {
    private func text(_ reads: RoomReads) -> [String] { reads.reads.map { "\($0.user) \($0.seq)" } }

    @Test func `are listed by user, in parts, and from a message on`() throws {
        let log = try TestLog()
        try log.fill(5)
        try log.fill(5, "other")
        for (user, seq) in [("dora", 2), ("bob", 4), ("Zoe", 5), ("carol", 1)] as [(String, Int64)] {
            try log.read(to: seq, as: user)
        }
        try log.read(to: 3, in: "other", as: "eve")
        #expect(text(try log.reads()) == ["Zoe 5", "bob 4", "carol 1", "dora 2"])
        let first = try log.reads(limit: 2)
        #expect(text(first) == ["Zoe 5", "bob 4"] && first.hasMore)
        let second = try log.reads(after: "bob", limit: 2)
        #expect(text(second) == ["carol 1", "dora 2"] && !second.hasMore)
        #expect(text(try log.reads(from: 2)) == ["Zoe 5", "bob 4", "dora 2"])
        let beyond = try log.reads(after: "Zoe", from: 2, limit: 1)
        #expect(text(beyond) == ["bob 4"] && beyond.hasMore)
        #expect(try log.reads(from: .max) == RoomReads(reads: [], hasMore: false))
        #expect(try log.reads(of: "unused") == RoomReads(reads: [], hasMore: false))
    }

    @Test func `have the times when they moved`() throws {
        let clock = TestClock(1_000)
        let log = try TestLog { $0.clock = { clock.now } }
        try log.fill(3)
        func time() throws -> Int64? { try log.reads().reads.first { $0.user.string == "bob" }?.at?.milliseconds }
        try log.read(to: 1, as: "bob")
        #expect(try time() == 1_000)
        clock.step(500)
        try log.read(to: 1, as: "bob")
        #expect(try time() == 1_000, "it has not moved")
        try log.read(to: 2, as: "bob")
        #expect(try time() == 1_500)
        clock.step(500)
        // In one commit with a change of the room, after which the mark is decided with all facts.
        let change = try log.submission(.room(.set(RoomSettings(title: "Lobby"))), by: "alice")
        _ = try log.submitAll([change, log.submission(.read(seq: 3), by: "bob")])
        #expect(try time() == 2_000)
        #expect(try log.reopened { $0.clock = { clock.now } }.reads().reads.first?.at?.milliseconds == 2_000)
    }

    @Test func `have no times if an earlier version has moved them, until they move again`() throws {
        let log = try TestLog()
        try log.fill(3)
        try log.read(to: 2, as: "bob")
        try log.execute("UPDATE read_marks SET moved_at = NULL")
        #expect(try log.reads().reads == [ReadReceipt(user: UserID("bob"), seq: 2, at: nil)])
        try log.read(to: 3, as: "bob")
        #expect(try log.reads().reads.first?.at != nil)
    }

    @Test func `are for those who may read the room`() throws {
        let log = try TestLog()
        try log.fill(2)
        try log.read(to: 2, as: "alice")
        _ = try log.change(.set(RoomSettings(visibility: .private)), by: "alice").get()
        #expect(text(try log.reads(for: "alice")) == ["alice 2"])
        #expect(throws: Problem.roomNotFound) { try log.reads(for: "bob") }
        #expect(throws: Problem.roomNotFound) { try log.reads() }
    }

    @Test func `do not include those of a user from the moment of the erasure`() throws {
        let log = try TestLog()
        try log.fill(3)
        for room in ["lobby", "a", "b"] {
            try log.fill(1, room)
            for user in ["bob", "carol"] { try log.read(to: 1, in: room, as: user) }
        }
        var erasure = try log.submission(.user(UserID("bob"), .erase), by: "root", isAdmin: true)
        erasure.room = nil
        _ = try log.outcome(erasure).get()
        for room in ["lobby", "a", "b"] { #expect(text(try log.reads(of: room)) == ["carol 1"]) }
        // Another user with the same name.
        try log.read(to: 2, as: "bob")
        #expect(text(try log.reads()) == ["bob 2", "carol 1"])
    }

    @Test func `are found by one search of an index, without sorting`() throws {
        let log = try TestLog()
        let query = ReadReceipt.sql.replacing("$1", with: "1").replacing("$2", with: "'a'").replacing("$3", with: "1")
            .replacing("$4", with: "10")
        let scans = try log.scans(query).filter { !$0.contains("erasures") && !$0.contains("returns") }
        #expect(scans == [])
        guard TestStore.isPostgres else { return }
        let plan = try TestPostgres.contract().query(
            "SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN " + query,
            in: TestStore.database(of: log.path)
        ).compactMap(\.[0])
        #expect(!plan.contains { $0.contains("Sort") }, "\(plan)")
    }
}
