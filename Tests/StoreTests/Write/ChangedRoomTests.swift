import Chat
import GRDB
import TestSupport
import Testing
import Wire

@testable import Store

/// Tests where a room's messages are when one of them changes: filed, in the journal, or in the current commit.
@Suite("A change files its room's messages", .partOfSQLite(.journal))
struct ChangedRoomTests {
    /// A submission of a test.
    enum Step {
        case send(String, id: String? = nil)
        case edit(Int64, String)
        case delete(Int64)
        case like(Int64)
    }

    private func submit(_ steps: [Step], _ room: String = "lobby", to log: TestLog) throws -> [Receipt] {
        let submissions = try steps.map { step in
            switch step {
            case .send(let text, let id): try log.submissions([.init(text: text, room: room, id: id)])[0]
            case .edit(let seq, let text):
                try log.submission(.init(seq: seq, action: .edit(Edit(text: text)), room: room))
            case .delete(let seq): try log.submission(.init(seq: seq, action: .delete, room: room))
            case .like(let seq):
                try log.submission(.init(seq: seq, action: .addReaction(ReactionKey("+1")), room: room))
            }
        }
        return try log.submitAll(submissions).map { try $0.get() }
    }

    /// Returns the number of rows in the two tables, through another connection.
    private func counts(_ log: TestLog) throws -> [Int] {
        try log.sql { db in
            try ["journal", "messages"].map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)")! }
        }
    }

    /// Opens a copy of the files as after a crash.
    private func crashed(_ log: TestLog) throws -> TestLog {
        let directory = try TemporaryDirectory()
        for suffix in ["", "-wal"] { try run("cp", log.path + suffix, directory.path(of: "log.db" + suffix)) }
        return try TestLog(in: directory) { $0.journal.idleTime = 60_000 }
    }

    /// Expects the room to have these snapshots in every way of reading, here and after a crash.
    private func expect(_ bodies: [[UInt8]], rev: Int64, _ room: String = "lobby", in log: TestLog) throws {
        for log in [log, try crashed(log)] {
            let state = RoomState(head: Int64(bodies.count), rev: rev)
            #expect(try log.state(of: room) == state)
            #expect(try log.page(.newest, limit: 200, of: room).messages == joined(bodies))
            for (index, body) in bodies.enumerated() {
                #expect(try log.message(Int64(index + 1), of: room) == body)
            }
            let byRev = try bodies.map { (rev: try Message(decoding: $0).rev, body: $0) }.sorted { $0.rev < $1.rev }
            for since in 0...rev {
                let changes = try log.changes(since: since, of: room)
                #expect(changes.messages == joined(byRev.filter { $0.rev > since }.map(\.body)), "since \(since)")
            }
        }
    }

    private func makeLog() throws -> TestLog {
        try TestLog { $0.journal.idleTime = 60_000 }
    }

    @Test func `from the journal`() throws {
        let log = try makeLog()
        let sent = try submit([.send("1"), .send("2"), .send("3")], to: log)
        #expect(try counts(log) == [1, 0])
        let edited = try submit([.edit(2, "two")], to: log)[0]
        #expect(try counts(log)[1] == 3)
        try expect([sent[0].body, edited.body, sent[2].body], rev: 4, in: log)
        // Later sends go to the journal again.
        let more = try submit([.send("4"), .send("5")], to: log)
        #expect(more.map(\.rev) == [5, 6])
        #expect(try counts(log)[1] == 3)
        try expect([sent[0].body, edited.body, sent[2].body] + more.map(\.body), rev: 6, in: log)
        let liked = try submit([.like(5)], to: log)[0]
        try expect([sent[0].body, edited.body, sent[2].body, more[0].body, liked.body], rev: 7, in: log)
    }

    @Test func `from the same commit, sent before and after the change`() throws {
        let log = try makeLog()
        let first = try submit([.send("1")], to: log)[0]
        let stored = try submit(
            [.send("2"), .edit(1, "one"), .send("3"), .like(3), .like(2), .send("4"), .edit(2, "two"), .delete(3)],
            to: log)
        #expect(stored.map(\.rev) == Array(2...9))
        #expect(log.listener.commits.events.count == 2)
        let batch = try #require(log.listener.commits.events.last?.batches.first)
        #expect(batch.since == 1 && batch.head == 4 && batch.messages == stored.map(\.body))
        #expect(first.seq == 1)
        try expect([stored[1].body, stored[6].body, stored[7].body, stored[5].body], rev: 9, in: log)
    }

    @Test func `and leaves other rooms' messages where they are`() throws {
        let log = try makeLog()
        // One row for both rooms.
        let submissions = try log.submissions([.init(room: "a"), .init(room: "b"), .init(room: "a"), .init(room: "b")])
        let sent = try log.submitAll(submissions).map { try $0.get().body }
        let both = try log.submitAll(
            log.submissions([.init(room: "b")]) + [log.submission(.init(seq: 1, action: .delete, room: "a"))]
                + log.submissions([.init(room: "b"), .init(room: "a")])
        ).map { try $0.get().body }
        #expect(try counts(log) == [2, 3])
        try expect([both[1], sent[2], both[3]], rev: 4, "a", in: log)
        try expect([sent[1], sent[3], both[0], both[2]], rev: 4, "b", in: log)
    }

    @Test(arguments: [1, 3])
    func `also if the room is due in that commit`(messagesOfRoom: Int) throws {
        let log = try TestLog {
            $0.journal.idleTime = 60_000
            $0.journal.messagesOfRoom = messagesOfRoom
        }
        var bodies = try submit([.send("1"), .send("2"), .send("3")], to: log).map(\.body)
        let stored = try submit([.send("4"), .delete(4), .delete(1), .send("5")], to: log)
        bodies[0] = stored[2].body
        bodies += [stored[1].body, stored[3].body]
        try expect(bodies, rev: 7, in: log)
    }

    @Test func `and repeated sends are recognized wherever the original is`() throws {
        let log = try makeLog()
        let stored = try submit(
            [.send("1", id: "a"), .like(1), .send("1", id: "a"), .send("2", id: "b"), .like(2), .send("2", id: "b")],
            to: log)
        #expect(stored.map(\.seq) == [1, 1, 1, 2, 2, 2])
        #expect(stored.map(\.rev) == [1, 2, 2, 3, 4, 4])
        #expect(try log.message("b", from: "alice") == stored[4].body)
        try expect([stored[1].body, stored[4].body], rev: 4, in: log)
    }

    @Test func `unless the commit fails; the next one changes the room`() throws {
        let log = try makeLog()
        let sent = try submit([.send("1"), .send("2")], to: log)
        try log.sql { db in
            try db.execute(
                sql: "CREATE TRIGGER full BEFORE UPDATE ON messages BEGIN SELECT RAISE(ABORT, 'no more'); END")
        }
        #expect(throws: Problem.unavailable("The message could not be stored: no more.")) { try log.edit(1, "x") }
        #expect(try log.page().messages == joined(sent.map(\.body)))
        #expect(try counts(log)[1] == 0)
        try log.sql { try $0.execute(sql: "DROP TRIGGER full") }
        let edited = try log.edit(1, "x")
        #expect(edited.rev == 3)
        try expect([edited.body, sent[1].body], rev: 3, in: log)
    }

    @Test func `and the journal is emptied when everything is filed`() throws {
        let log = try TestLog { $0.journal.idleTime = 1 }
        try log.fill(3)
        try log.edit(2, "x")
        try waitUntil { (try? counts(log)) == [0, 3] }
        let other = try makeLog()
        try other.fill(3)
        try other.edit(2, "x")
        other.close()
        #expect(try counts(other) == [0, 3])
    }
}
