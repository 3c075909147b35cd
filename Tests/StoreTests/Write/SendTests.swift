import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A send")
struct SendTests {
    @Test func `creates the room as message 1 and revision 1`() throws {
        let log = try TestLog()
        let stored = try log.send(.init(text: "hi", room: "lobby", sender: "alice", id: "a1"))
        #expect(stored.seq == 1 && stored.rev == 1 && stored.isNew)
        let message = try Message(decoding: stored.body)
        #expect(message.room.string == "lobby" && message.sender.string == "alice")
        #expect(message.seq == 1 && message.rev == 1)
        #expect(message.clientMessageID == "a1" && message.content.text == "hi")
        #expect(try log.state() == RoomState(head: 1, rev: 1))
    }

    @Test func `is counted in its own room`() throws {
        let log = try TestLog()
        let seqs = try log.sendAll(["a", "b", "a", "c", "a", "b"].map { .init(room: $0) }).map { try $0.get().seq }
        #expect(seqs == [1, 1, 2, 1, 3, 2])
        #expect(try ["a", "b", "c", "d"].map { try log.state(of: $0).head } == [3, 2, 1, 0])
    }

    @Test func `is committed together with simultaneous ones, pushed by room in order`() throws {
        let log = try TestLog()
        for room in ["a", "b"] { try log.send(.init(room: room)) }
        let stored = try log.sendAll(["b", "a", "a", "b", "a"].map { .init(room: $0) }).map { try $0.get() }
        let commits = log.listener.commits.events.dropFirst(2)
        // PostgreSQL's writers know different rooms, and may store those that they do not know in another commit.
        #expect(commits.map(\.outcomes.count) == [5] || TestStore.isPostgres)
        let batches = commits.flatMap(\.batches)
        for (room, indices) in [("a", [1, 2, 4]), ("b", [0, 3])] {
            let own = batches.filter { $0.room.string == room }
            #expect(own.first?.since == 1 && own.last?.head == Int64(1 + indices.count))
            #expect(own.flatMap(\.messages) == indices.map { stored[$0].body })
        }
    }

    @Test func `shares a commit with a bounded number of others`() throws {
        let log = try TestLog { $0.commit.submissions = 4 }
        try log.fill(10)
        #expect(log.listener.commits.events.map(\.outcomes.count) == [4, 4, 2])
        #expect(try log.state() == RoomState(head: 10, rev: 10))
    }

    @Test func `shares a commit of bounded size, or has one alone`() throws {
        let log = try TestLog { $0.commit.bytes = 10 }
        try log.sendAll(["12345", "12345", "1", String(repeating: "x", count: 100), "1", "1"].map { .init(text: $0) })
        #expect(log.listener.commits.events.map(\.outcomes.count) == [2, 1, 1, 2])
    }

    @Test func `of any size is stored and read unchanged`() throws {
        let log = try TestLog()
        let texts = [1, 4000, 16_384, 1].map { String(repeating: "x", count: $0) }
        let bodies = try log.sendAll(texts.map { .init(text: $0) }).map { try $0.get().body }
        #expect(try bodies.map { try Message(decoding: $0).content.text } == texts)
        #expect(try log.page().messages == joined(bodies))
    }

    @Test(arguments: [1, 2, 3])
    func `continues the numbers of rooms that were evicted from memory`(cachedRooms: Int) throws {
        let log = try TestLog { $0.cachedRooms = cachedRooms }
        for round in 1...4 {
            let sends = (0..<5).flatMap { room in (0..<2).map { _ in TestLog.Send(room: "room\(room)") } }
            let seqs = try log.sendAll(sends).map { try $0.get().seq }
            #expect(seqs == (0..<5).flatMap { _ in [Int64(round * 2 - 1), Int64(round * 2)] })
        }
        // Also if a commit returns to a room.
        let seqs = try log.sendAll([0, 1, 2, 3, 0, 1].map { .init(room: "room\($0)") }).map { try $0.get().seq }
        #expect(seqs == [9, 9, 9, 9, 10, 10])
    }

    @Test func `may reply to an earlier message, also of the same commit, but not to a missing one`() throws {
        let log = try TestLog()
        let results = try log.sendAll([
            .init(text: "answers nothing", replyTo: 1), .init(text: "first"), .init(text: "answers it", replyTo: 1),
            .init(text: "answers itself", replyTo: 3), .init(text: "answers a later one", replyTo: 4),
            .init(text: "elsewhere", room: "other", replyTo: 1), .init(text: "second answer", replyTo: 2),
        ])
        let seqs = results.map { result in
            switch result {
            case .success(let stored): "\(stored.seq)"
            case .failure(let problem): problem.code.string
            }
        }
        let refused = "reply_to_not_found"
        #expect(seqs == [refused, "1", "2", refused, refused, refused, "3"])
        #expect(try log.state(of: "other") == RoomState())
        #expect(try Message(decoding: log.message(2)!).content.replyTo == 1)
    }

    @Test func `that expects a head is stored only as the next message`() throws {
        let log = try TestLog()
        #expect(throws: Problem.headMoved(0)) { try log.send(.init(expectHead: 1)) }
        #expect(try log.state() == RoomState())
        #expect(try log.memberships(of: "alice", limit: 1).rooms == [])
        let first = try log.send(.init(id: "1", expectHead: 0))
        #expect(first.seq == 1)
        #expect(throws: Problem.headMoved(1)) { try log.send(.init(id: "2", expectHead: 0)) }
        // Repeated, it is found whatever the head is.
        #expect(try log.send(.init(id: "1", expectHead: 0)).body == first.body)
        let seqs = try log.sendAll([
            .init(expectHead: 1), .init(expectHead: 1), .init(), .init(expectHead: 3), .init(expectHead: 9),
        ]).map { try? $0.get().seq }
        #expect(seqs == [2, nil, 3, 4, nil])
        try log.edit(4, "edited")
        #expect(try log.send(.init(expectHead: 4)).seq == 5)
    }

    @Test func `counts its attachments in the bytes of a commit`() throws {
        let log = try TestLog { $0.commit.bytes = 10_000 }
        let long = String(repeating: "x", count: 2000)
        let attachments = [
            Attachment(kind: .file, url: "http://a", mime: long, title: long, description: long, thumbhash: long)
        ]
        let draft = Draft(content: Content(attachments: attachments))
        let edit = MessageChange(seq: 1, action: .edit(Edit(attachments: attachments)))
        let changes: [Submission.Change] = [.send(draft), .send(draft), .change(edit), .change(edit)]
        let submissions = try changes.map { try log.submission($0, by: "alice") }
        for result in try log.submitAll(submissions) { _ = try result.get() }
        #expect(log.listener.commits.events.map(\.outcomes.count) == [1, 1, 1, 1])
    }

    @Test func `has the time of its commit, and never an earlier one than the previous message`() throws {
        let clock = TestClock(1000)
        let log = try TestLog { $0.clock = { clock.now } }
        var times: [Int64] = []
        for step in [0, 5, -3, -1000, 0, 999, 1] as [Int64] {
            clock.step(step)
            let bodies = try log.sendAll([.init(), .init()]).map { try $0.get().body }
            times += try bodies.map { try Message(decoding: $0).createdAt.milliseconds }
        }
        #expect(times == [1000, 1000, 1005, 1005, 1005, 1005, 1005, 1005, 1005, 1005, 1005, 1005, 1005, 1005])
        clock.step(10)
        #expect(try Message(decoding: log.send(.init()).body).createdAt.milliseconds == 1012)

        clock.step(-500)
        let again = try log.reopened { $0.clock = { clock.now } }
        #expect(try Message(decoding: again.send(.init()).body).createdAt.milliseconds == 1012)
        #expect(try Message(decoding: again.send(.init(room: "new")).body).createdAt.milliseconds == 512)
    }

    @Test func `is timed with its commit`() throws {
        let told = Recorder<Int>()
        let log = try TestLog { $0.onCommit = { _, count in told.record(count) } }
        try log.fill(3)
        try log.fill(2)
        #expect(told.events == [3, 2])
    }

    @Test func `can take the last place of a room; then the room is full`() throws {
        let log = try TestLog { $0.journal.messages = 0 }
        let first = try log.send(.init())
        let place = RowKey.maximumOrdinal - 1
        try log.execute("UPDATE messages SET id = id - 1 + \(place), rev = \(place)")
        try log.setRoom(head: place, rev: place)
        let again = try log.reopened()
        let last = try again.send(.init(text: "last"))
        #expect(last.seq == RowKey.maximumOrdinal)
        #expect(try again.page().messages == joined([first.body, last.body]))
        #expect(try again.message(RowKey.maximumOrdinal) == last.body)
        #expect(try again.changes(since: RowKey.maximumOrdinal - 1).messages == last.body)
        let refused = try again.sendAll([.init()])[0]
        #expect(throws: Problem.unavailable("The room is full.")) { try refused.get() }
        #expect(try again.send(.init(room: "other")).seq == 1)
    }

    @Test func `to one room too many is refused, and does not affect others in its commit`() throws {
        let (numbers, reports) = (RoomNumbers(), Recorder<Void>())
        var log = try TestLog()
        try log.execute(
            """
            INSERT INTO rooms (id, name) \(TestStore.isPostgres ? "OVERRIDING SYSTEM VALUE" : "")
            VALUES (\(RowKey.maximumRoom), 'last')
            """)
        if TestStore.isPostgres {
            try log.execute("ALTER TABLE rooms ALTER COLUMN id RESTART WITH \(RowKey.maximumRoom + 1)")
        }
        log = try log.reopened {
            $0.roomNumbers = numbers
            $0.onRoomLimit = { reports.record(()) }
        }
        #expect(numbers.highest == RowKey.maximumRoom)
        let results = try log.sendAll([.init(room: "last"), .init(room: "another"), .init(room: "last")])
        #expect(try results[0].get().seq == 1)
        #expect(throws: Problem.unavailable("The database has the maximum number of rooms.")) { try results[1].get() }
        #expect(try results[2].get().seq == 2)
        #expect(throws: Problem.self) { try log.change(.set(RoomSettings(title: "x")), in: "third", by: "alice").get() }
        #expect(numbers.refused == 2 && reports.events.count == 1)
        #expect(log.log.failure == nil)
    }
}
