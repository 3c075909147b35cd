import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Changes")
struct ChangesTests {
    @Test func `are the messages by revision if none was changed`() throws {
        let log = try TestLog()
        let bodies = try log.fill(10)
        try log.fill(3, "neighbor")
        for since in 0...10 {
            let changes = try log.changes(since: Int64(since))
            #expect(changes.messages == joined(bodies[since...]))
            #expect(changes.rev == 10 && !changes.hasMore)
            #expect(changes.state == RoomState(head: 10, rev: 10))
        }
    }

    @Test func `come in slices, each with the next position`() throws {
        let log = try TestLog()
        let bodies = try log.fill(10)
        #expect(try log.changes(since: 0, limit: 4).rev == 4)
        #expect(try log.changes(since: 0, limit: 4).hasMore)
        #expect(try log.changes(since: 4, limit: 6).messages == joined(bodies[4...]))
        #expect(try !log.changes(since: 4, limit: 6).hasMore)
        #expect(try log.changes(since: 4, limit: 5).hasMore)
    }

    @Test func `of an unused room, or after the latest revision, are empty`() throws {
        let log = try TestLog()
        try log.fill(2)
        let unused = try log.changes(since: 0, of: "unused")
        #expect(unused.messages.isEmpty && unused.rev == 0 && !unused.hasMore && unused.state == RoomState())
        let beyond = try log.changes(since: 3)
        #expect(beyond.messages.isEmpty && beyond.rev == 3 && !beyond.hasMore && beyond.state.rev == 2)
        #expect(try log.changes(since: .max).messages.isEmpty)
    }

    /// Changes a message like a commit: its snapshot, and the index of changes.
    private func change(_ seq: Int64, to rev: Int64, _ body: String, in log: TestLog) throws {
        let room = try #require(try log.number("SELECT id FROM rooms WHERE name = 'lobby'"))
        try log.execute(
            """
            UPDATE messages SET changed = \(RowKey(room: room, rev).rawValue), body = \(TestLog.literal(body.utf8))
            WHERE id = \(RowKey(room: room, seq).rawValue)
            """)
        try log.setRoom(rev: rev)
    }

    @Test func `contain a changed message once, as it is now, at its latest revision`() throws {
        let log = try TestLog { $0.journal.messages = 0 }
        try log.fill(2, "before")
        let bodies = try log.fill(4)
        try log.fill(2, "behind")
        try change(2, to: 5, "two at 5", in: log)
        try change(4, to: 6, "four at 6", in: log)
        let two = Array("two at 5".utf8)
        let four = Array("four at 6".utf8)
        let expected: [(Int64, [[UInt8]])] = [
            (0, [bodies[0], bodies[2], two, four]), (1, [bodies[2], two, four]), (2, [bodies[2], two, four]),
            (3, [two, four]), (4, [two, four]), (5, [four]), (6, []),
        ]
        for (since, messages) in expected {
            let changes = try log.changes(since: since)
            #expect(changes.messages == joined(messages), "since \(since)")
            #expect(changes.rev == 6 && !changes.hasMore)
            #expect(changes.state == RoomState(head: 4, rev: 6))
        }
        try change(2, to: 7, "two at 7", in: log)
        #expect(try log.changes(since: 4).messages == joined([four, Array("two at 7".utf8)]))
        #expect(try log.page(.newest, limit: 3).messages == joined([Array("two at 7".utf8), bodies[2], four]))
        #expect(try log.page().state.rev == 7)
    }

    @Test func `give a message sent after a change the next revision, also after a restart`() throws {
        let log = try TestLog { $0.journal.messages = 0 }
        try log.fill(2)
        try change(1, to: 3, "one at 3", in: log)
        let again = try log.reopened()
        let stored = try again.sendAll([.init(), .init()]).map { try $0.get() }
        #expect(stored.map(\.seq) == [3, 4] && stored.map(\.rev) == [4, 5])
        #expect(try again.state() == RoomState(head: 4, rev: 5))
        #expect(try again.changes(since: 3).messages == joined(stored.map(\.body)))
    }

    @Test(arguments: [1, 2, 3, 4])
    func `equal a replay of any history`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var log = try TestLog { $0.journal.messages = 0 }
        // The latest revision and snapshot of each message.
        var messages: [(rev: Int64, body: [UInt8])] = []
        var rev: Int64 = 0
        for _ in 0..<12 {
            for _ in 0..<Int.random(in: 0...4, using: &generator) where !messages.isEmpty {
                let index = messages.indices.randomElement(using: &generator)!
                rev += 1
                messages[index] = (rev, Array("\(index + 1) at \(rev)".utf8))
                try change(Int64(index + 1), to: rev, "\(index + 1) at \(rev)", in: log)
            }
            // Reopened, so that the writer reads the rows that the test has changed.
            log = try log.reopened { $0.journal.messages = 0 }
            for body in try log.fill(Int.random(in: 0...4, using: &generator)) {
                rev += 1
                messages.append((rev, body))
            }
            for since in 0...rev {
                let limit = Int.random(in: 1...(Bool.random(using: &generator) ? 3 : 100), using: &generator)
                let all = messages.filter { $0.rev > since }.sorted { $0.rev < $1.rev }
                let slice = all.prefix(limit)
                let changes = try log.changes(since: since, limit: limit)
                #expect(changes.messages == joined(slice.map(\.body)), "since \(since) of \(rev), limit \(limit)")
                #expect(changes.rev == slice.last?.rev ?? since)
                #expect(changes.hasMore == (all.count > limit))
                #expect(changes.state == RoomState(head: Int64(messages.count), rev: rev))
                let replay = try log.replay(since: since)
                #expect(replay.frames == all.flatMap { frame($0.body) })
            }
        }
    }

    private func frame(_ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        PushEncoding.appendFrame(body.span, to: &bytes)
        return bytes
    }
}
