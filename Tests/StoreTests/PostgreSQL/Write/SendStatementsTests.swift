import Chat
import Nodes
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Sends to PostgreSQL", .partOfPostgreSQL)
struct SendStatementsTests {
    private let server: TestPostgres
    private let database: String
    private var url: String { server.url(of: database) }

    init() throws {
        server = try TestPostgres.shared()
        database = try server.createDatabase()
    }

    private func log(_ configure: (inout StoreConfiguration) -> Void = { _ in }) throws -> TestLog {
        try TestLog(postgres: url, configure)
    }

    /// Creates a batch of all submissions, with what it must know looked up.
    private func batch(_ submissions: [Submission], _ statements: PostgresConnection) throws -> SendBatch {
        var known = KnownRooms()
        known.begin(revocations: 0)
        known.add(try #require(try statements.answers(to: known.questions(for: submissions[...]))).answers)
        let batch = SendBatch(submissions[...], knowing: known, bans: BanTable(), erasing: [])
        #expect(batch.sends.count == submissions.count)
        return batch
    }

    /// Expects that rooms have no gaps, and that their totals are those of their messages.
    private func expectSoundRooms() throws {
        let unsound = try server.query(
            """
            SELECT name FROM rooms LEFT JOIN (
                SELECT id >> 36 AS room, count(*) AS count, max(id & 68719476735) AS head, max(rev) AS rev,
                    count(DISTINCT rev) AS revs, sum(length(body)) AS bytes, max(created_at) AS latest
                FROM messages GROUP BY 1) AS found ON room = rooms.id
            WHERE (rooms.head, rooms.rev, rooms.bytes) IS DISTINCT FROM
                (coalesce(count, 0), coalesce(revs, 0), coalesce(found.bytes, 0)::bigint)
                OR found.head IS DISTINCT FROM count OR found.rev IS DISTINCT FROM count
                OR rooms.active_at IS DISTINCT FROM latest
            """, in: database)
        #expect(unsound.isEmpty)
    }

    private let strange: [TestLog.Send] = [
        TestLog.Send(text: "1", id: "a"), TestLog.Send(text: "\"\\\u{1}\n é 日本 👩‍👩‍👧", room: "other", sender: "bob"),
        TestLog.Send(text: "2", replyTo: 3, data: #"{"a": [1, "\\u0000"]}"#),
        TestLog.Send(text: "\\x41 \\101 %", sender: "carol", id: "\"é\\"),
    ]

    @Test(arguments: [0, 999, 1_700_000_000_007, 253_402_300_799_999])
    func `store the bytes that SQLite stores, and push them to subscribers`(time: Int64) throws {
        let clock = TestClock(time)
        let sqlite = try TestLog { $0.clock = { clock.now } }
        let postgres = try log {
            $0.clock = { clock.now }
            $0.usesDatabaseClock = false
        }
        let statements = try PostgresConnection(PostgresConnection.Settings(url: url))
        for log in [sqlite, postgres] {
            // The numbers get another digit within the batch.
            try log.fill(8)
            try log.fill(99, "other")
        }
        for (number, sends) in [strange, strange.map { TestLog.Send(text: $0.text, room: $0.room) }].enumerated() {
            try sqlite.sendAll(sends)
            let batch = try batch(postgres.submissions(sends), statements)
            guard case .stored(let stored) = try statements.store(batch, revocations: 0, at: clock.now) else {
                Issue.record("batch \(number) was not stored")
                return
            }
            let told = batch.results(stored).batches.reduce(into: [:]) { $0[$1.room.string] = $1.messages }
            for (room, messages) in told {
                let page = try sqlite.page(limit: messages.count, of: room).messages
                #expect(page == joined(messages))
                #expect(try postgres.page(limit: messages.count, of: room).messages == page)
            }
        }
        try expectSoundRooms()
    }

    @Test func `never get an earlier time than the room's previous message`() throws {
        let log = try log()
        try log.fill(1)
        let statements = try PostgresConnection(PostgresConnection.Settings(url: url))
        let batch = try batch(log.submissions([TestLog.Send()]), statements)
        guard case .stored(let stored) = try statements.store(batch, revocations: 0, at: .earliest) else {
            Issue.record("not stored")
            return
        }
        #expect(try #require(stored[0]).time > .earliest)
        try expectSoundRooms()
    }

    @Test func `store nothing where access was taken away, or if an id was used`() throws {
        let log = try log()
        try log.sendAll([TestLog.Send(id: "a"), TestLog.Send(room: "other")])
        let statements = try PostgresConnection(PostgresConnection.Settings(url: url))
        // The heads before, of the rooms in which something was stored.
        func stored(_ batch: SendBatch, revocations: Int64 = 0) throws -> [String: Int64] {
            guard case .stored(let stored) = try statements.store(batch, revocations: revocations, at: nil) else {
                Issue.record("an id was repeated")
                return [:]
            }
            return zip(batch.rooms, stored).reduce(into: [:]) { $0[$1.0.id.string] = $1.1?.head }
        }
        let both = try batch(
            log.submissions([TestLog.Send(id: "b"), TestLog.Send(room: "other"), TestLog.Send()]), statements)
        #expect(try stored(both, revocations: 1).isEmpty)
        let repeated = try batch(log.submissions([TestLog.Send(id: "a"), TestLog.Send(id: "c")]), statements)
        guard case .repeated = try statements.store(repeated, revocations: 0, at: nil) else {
            Issue.record("stored a message twice")
            return
        }
        #expect(try statements.repeated(repeated.keys).map(\.id) == ["a"])
        try server.query("UPDATE rooms SET access = access + 1 WHERE name = 'lobby'", in: database)
        #expect(try stored(both) == ["other": 1])
        try expectSoundRooms()
    }

    @Test func `are stored by no node once a loss of rights in the room is answered`() throws {
        let nodes = try [log(), log()]
        let bob = try UserID("bob")
        let ban = BanSettings(scope: .send, until: nil, reason: nil)
        var generator = SystemRandomNumberGenerator()
        for round in 0..<30 {
            let room = "room\(round)"
            try nodes[0].fill(1, room)
            _ = try nodes[0].change(.set(RoomSettings(visibility: .private)), in: room, by: "alice").get()
            _ = try nodes[0].change(.setMember(bob, nil), in: room, by: "alice").get()
            #expect(try nodes[1].send(.init(room: room, sender: "bob")).seq == 2)
            let restriction: RoomChange = [.removeMember(bob), .setBan(bob, ban), .delete]
                .randomElement(using: &generator)!
            let accepted = Mutex<[Int64]>([])
            let isAnswered = Atomic(false)
            inParallel(2) { node in
                if node == 0 {
                    _ = try nodes[0].change(restriction, in: room, by: "alice").get()
                    isAnswered.store(true, ordering: .sequentiallyConsistent)
                    return
                }
                for _ in 0..<20 {
                    let wasAnswered = isAnswered.load(ordering: .sequentiallyConsistent)
                    guard let message = try? nodes[1].send(.init(room: room, sender: "bob")) else { continue }
                    #expect(!wasAnswered, "stored after \(restriction)")
                    accepted.withLock { $0.append(message.seq) }
                }
            }
            #expect(throws: Problem.self) { try nodes[1].send(.init(room: room, sender: "bob")) }
            // Without gaps.
            let seqs = accepted.withLock { $0 }
            #expect(seqs == seqs.indices.map { Int64($0) + 3 })
        }
    }

    @Test func `of other rooms are not held up by a loss of rights in one`() throws {
        let nodes = try [log(), log()]
        let bob = try UserID("bob")
        for room in ["a", "b"] { try nodes[1].fill(1, room) }
        _ = try nodes[0].change(.setMember(bob, nil), in: "a", by: "alice").get()
        _ = try nodes[0].change(.removeMember(bob), in: "a", by: "alice").get()
        let results = try nodes[1].sendAll([.init(room: "a", sender: "bob"), .init(room: "b"), .init(room: "a")])
        #expect(try results.map { try $0.get().seq } == [2, 2, 3])
        try expectSoundRooms()
    }

    @Test func `mark their senders as engaged members`() throws {
        let log = try log()
        try log.fill(1)
        _ = try log.change(.setMember(try UserID("bob"), nil), by: "alice").get()
        func engaged() throws -> [[String?]] {
            try server.query("SELECT engaged FROM members WHERE \"user\" = 'bob'", in: database)
        }
        #expect(try engaged() == [["0"]])
        try log.send(TestLog.Send(sender: "bob"))
        #expect(try engaged() == [["1"]])
    }

    @Test func `are numbered without gaps when several nodes send to the same rooms`() throws {
        let logs = try (0..<3).map { _ in try log() }
        let rooms = (0..<12).map { "room-\($0)" }
        try logs[0].sendAll(rooms.map { TestLog.Send(room: $0) })
        inParallel(logs.count) { node in
            for round in 0..<20 {
                // In an order of its own.
                let sends = rooms.indices.map { index in
                    TestLog.Send(text: "\(node) \(round)", room: rooms[(index * 5 + node) % rooms.count])
                }
                for result in try logs[node].sendAll(sends + sends) { #expect(try result.get().isNew) }
            }
        }
        try expectSoundRooms()
        #expect(try server.query("SELECT count(*) FROM messages", in: database) == [["\(12 + 3 * 20 * 24)"]])
        for log in logs {
            let pages = try rooms.map { try log.page(limit: 200, of: $0).messages }
            #expect(try pages == rooms.map { try logs[0].page(limit: 200, of: $0).messages })
        }
    }

    @Test func `store one message for a client message id that several nodes get at once`() throws {
        let logs = try (0..<3).map { _ in try log() }
        try logs[0].fill(1)
        let isNew = Recorder<Bool>()
        inParallel(logs.count) { node in
            for round in 0..<20 {
                let results = try logs[node].sendAll([
                    TestLog.Send(text: "unique \(node) \(round)"), TestLog.Send(id: "id \(round)"),
                ])
                isNew.record(try results[1].get().isNew)
            }
        }
        #expect(try isNew.wait(for: 60).count { $0 } == 20)
        let count = try server.query("SELECT count(*), count(client_message_id) FROM messages", in: database)
        #expect(count == [["81", "20"]])
        try expectSoundRooms()
    }

    @Test func `have a repeated id once in a commit, and answer other content with 409`() throws {
        let log = try log()
        try log.fill(1)
        let results = try log.sendAll([
            TestLog.Send(text: "a", id: "1"), TestLog.Send(text: "a", id: "1"), TestLog.Send(text: "b", id: "1"),
            TestLog.Send(text: "c"),
        ])
        #expect(try results[0].get().isNew)
        #expect(try !results[1].get().isNew)
        #expect(throws: Problem.clientMessageIDReused) { try results[2].get() }
        #expect(try results[3].get().seq == 3)
        #expect(
            try log.sendAll([TestLog.Send(text: "a", id: "1"), TestLog.Send(text: "d")]).map { try $0.get().seq } == [
                2, 4,
            ])
        try expectSoundRooms()
    }

    @Test func `are stored once although connections are lost repeatedly`() throws {
        let log = try log()
        try log.fill(1)
        let isDone = Atomic(false)
        inParallel(2) { thread in
            guard thread == 0 else {
                while !isDone.load(ordering: .relaxed) {
                    try server.terminateConnections(to: database, purpose: "backscroll writer")
                }
                return
            }
            defer { isDone.store(true, ordering: .relaxed) }
            for round in 0..<30 {
                var sends = (0..<10).map { TestLog.Send(text: "\(round) \($0)", id: "\(round) \($0)") }
                // Clients repeat what is answered with 503, which happens if connections are lost for 2 seconds.
                while !sends.isEmpty {
                    sends = try zip(sends, log.sendAll(sends)).compactMap { send, result in
                        if case .failure(let problem) = result, problem.code == .unavailable { return send }
                        _ = try result.get()
                        return nil
                    }
                }
            }
        }
        #expect(try server.query("SELECT count(*) FROM messages", in: database) == [["301"]])
        try expectSoundRooms()
    }

    @Test func `to a private room end on every node when the sender is removed`() throws {
        let nodes = try [log(), log()]
        _ = try nodes[0].change(.set(RoomSettings(visibility: .private, title: nil)), by: "alice").get()
        _ = try nodes[0].change(.setMember(try UserID("bob"), nil), by: "alice").get()
        #expect(try nodes[1].send(TestLog.Send(sender: "bob")).seq == 1)
        #expect(try nodes[1].send(TestLog.Send(sender: "bob")).seq == 2)
        _ = try nodes[0].change(.removeMember(try UserID("bob")), by: "alice").get()
        let result = try nodes[1].sendAll([TestLog.Send(sender: "bob"), TestLog.Send(sender: "alice")])
        #expect(throws: Problem.roomNotFound) { try result[0].get() }
        #expect(try result[1].get().seq == 3)
    }

    @Test func `to a room that another node has deleted are refused`() throws {
        let nodes = try [log(), log()]
        try nodes[1].fill(3)
        _ = try nodes[0].change(.delete, by: "alice").get()
        #expect(throws: Problem.roomDeleted) { try nodes[1].send(TestLog.Send()) }
    }

    @Test func `get a new epoch when the database was restored, and are refused by nodes that began with the old one`()
        throws
    {
        let log = try log()
        let epoch = log.log.epoch
        #expect(try self.log().log.epoch == epoch)
        try log.fill(1)
        // As if the rows came from another cluster.
        try server.query("UPDATE meta SET value = '1/00000001' WHERE key = 'timeline'", in: database)
        #expect(try log.send(TestLog.Send()).seq == 2)
        try server.terminateConnections(to: database, purpose: "backscroll writer")
        let refusal = try log.sendAll([TestLog.Send(id: "a")])[0]
        #expect(throws: Problem.self) { try refusal.get() }
        #expect(log.log.failure?.contains("another history") == true)
        let restarted = try self.log()
        #expect(restarted.log.epoch != epoch)
        #expect(try restarted.send(TestLog.Send(id: "a")).seq == 3)
    }
}
