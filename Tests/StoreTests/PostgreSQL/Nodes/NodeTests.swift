import Chat
import Nodes
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Two nodes of one database", .partOfPostgreSQL)
struct NodeTests {
    /// A node, and a subscriber of the room `lobby` there.
    private final class Node {
        let subscribers = SubscribedLoops()
        let log: TestLog
        /// The ages of messages that were looked up.
        let delays = Recorder<Duration>()
        /// The revision at which the subscriber began.
        private(set) var start: Int64 = 0

        init(_ url: String, _ clock: TestClock? = nil) throws {
            let delays = delays
            log = try TestLog(postgres: url, subscribers: subscribers) {
                $0.onLookup = { delays.record($0) }
                if let clock { $0.clock = { clock.now } }
            }
        }

        var postgres: PostgresLog { log.log as! PostgresLog }

        func subscribe() throws {
            subscribers.add(try RoomID("lobby"), loop: 0)
            start = try log.replay(since: nil).rev
        }

        /// Waits until the subscriber has everything up to a revision, and returns the messages that it got, in order.
        func messages(upTo rev: Int64) throws -> [[UInt8]] {
            let commits = try log.listener.commits.wait { received($0).rev >= rev }
            return received(commits).messages
        }

        /// The messages of batches, as a feed takes them.
        private func received(_ commits: [Listener.Commit]) -> (rev: Int64, messages: [[UInt8]]) {
            var (rev, messages) = (start, [[UInt8]]())
            for batch in commits.flatMap(\.batches) where batch.rev > rev && batch.room.string == "lobby" {
                #expect(batch.since <= rev, "no revision is missing")
                for (index, message) in batch.messages.enumerated() {
                    let own = batch.revisions?.revs[index] ?? batch.since + Int64(index) + 1
                    if own > rev { messages.append(message) }
                }
                rev = batch.rev
            }
            return (rev, messages)
        }
    }

    private let url: String
    private let first: Node
    private let second: Node

    init() throws {
        let server = try TestPostgres.shared()
        url = server.url(of: try server.createDatabase())
        first = try Node(url)
        second = try Node(url)
    }

    private func close() {
        first.log.close()
        second.log.close()
    }

    private func execute(_ sql: String) throws {
        try PostgresConnection(PostgresConnection.Settings(url: url)).execute(sql)
    }

    @Test func `give their subscribers what the other one stores, in order`() throws {
        defer { close() }
        try first.log.fill(3)
        try second.subscribe()
        #expect(second.start == 3)
        let stored = try first.log.fill(5)
        #expect(try second.messages(upTo: 8) == stored)
        // The sweep may find a message before its hint comes, so more are sent until one has come.
        var sent = stored
        while second.postgres.nodeCounts?.hintsReceived == 0 {
            try #require(sent.count < 10_000)
            sent += try first.log.fill(1)
            #expect(try second.messages(upTo: Int64(3 + sent.count)) == sent)
        }
    }

    @Test func `give their subscribers the latest revision of what the other one changes`() throws {
        defer { close() }
        try first.log.fill(2)
        try second.subscribe()
        let edited = try first.log.edit(1, "edited")
        let sent = try first.log.fill(1)
        #expect(try second.messages(upTo: 4) == [edited.body] + sent)
        let deleted = try first.log.delete(3)
        #expect(try second.messages(upTo: 5).last == deleted.body)
    }

    @Test func `give their subscribers more messages than one look reads`() throws {
        defer { close() }
        try second.subscribe()
        var stored: [[UInt8]] = []
        for _ in 0..<3 { stored += try first.log.fill(Int(LookStatement.maximumMessages) / 2) }
        #expect(try second.messages(upTo: Int64(stored.count)) == stored)
        let long = String(repeating: "long ", count: 1500)
        let sent = try first.log.sendAll((0..<60).map { TestLog.Send(text: "\($0) \(long)") }).map { try $0.get() }
        stored += try sent.map { try #require(try first.log.message($0.seq)) }
        #expect(try second.messages(upTo: Int64(stored.count)) == stored)
    }

    @Test func `give their subscribers the same messages in the same order when both send to a room at once`() throws {
        defer { close() }
        try first.subscribe()
        try second.subscribe()
        for round in 0..<10 {
            let submissions = try [first, second].map { node in
                try node.log.submissions((0..<10).map { TestLog.Send(text: "message \(round) \($0)") })
            }
            for (node, submissions) in zip([first, second], submissions) { node.log.log.submit(submissions) }
            for (node, submissions) in zip([first, second], submissions) {
                _ = try node.log.listener.outcomes(submissions.map(\.ticket))
            }
        }
        let all = try (1...200).map { try #require(try first.log.message($0)) }
        #expect(try first.messages(upTo: 200) == all)
        #expect(try second.messages(upTo: 200) == all)
    }

    @Test func `store at most one of the sends that expect the same head`() throws {
        defer { close() }
        try first.log.fill(1)
        for head in 1...50 as ClosedRange<Int64> {
            let submissions = try [first, second].map { node in
                try node.log.submissions((0..<3).map { TestLog.Send(text: "\($0)", expectHead: head) })
            }
            for (node, submissions) in zip([first, second], submissions) { node.log.log.submit(submissions) }
            let results = try zip([first, second], submissions).flatMap { node, submissions in
                try node.log.listener.outcomes(submissions.map(\.ticket)).map(\.result)
            }
            #expect(results.compactMap { try? $0.get().seq } == [head + 1])
            #expect(results.count { $0 == .failure(.headMoved(head + 1)) } == 5)
        }
    }

    @Test func `store no message of a member once either has answered that only owners may post`() throws {
        defer { close() }
        try first.log.fill(1)
        let logs = [first.log, second.log]
        for log in logs { try log.fill(1, "other") }
        let isDone = Atomic(false)
        inParallel(3) { thread in
            guard thread == 0 else {
                // Members, and strangers, send to both nodes as fast as they can.
                let log = logs[thread - 1]
                var random = SeededGenerator(seed: UInt64(thread))
                while !isDone.load(ordering: .relaxed) {
                    let sends = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                        TestLog.Send(
                            room: Int.random(in: 0..<8, using: &random) == 0 ? "other" : "lobby",
                            sender: "user\(Int.random(in: 0..<5, using: &random))")
                    }
                    for result in try log.sendAll(sends) {
                        if case .failure(let problem) = result { #expect(problem == .postingRestricted) }
                    }
                }
                return
            }
            defer { isDone.store(true, ordering: .relaxed) }
            var random = SeededGenerator(seed: 7)
            var stored: Int64 = 0
            for _ in 0..<100 {
                let (one, another) = (logs.randomElement(using: &random)!, logs.randomElement(using: &random)!)
                _ = try one.change(.set(RoomSettings(posting: .owners)), by: "alice").get()
                let head = try another.state().head
                let own = try another.send(TestLog.Send(text: "owner"))
                #expect(own.seq == head + 1)
                #expect(try one.state().head == own.seq)
                _ = try another.change(.set(RoomSettings(posting: .members)), by: "alice").get()
                // Until somebody has sent again.
                stored = own.seq
                while try one.state().head == stored {}
            }
            #expect(stored >= 200)
        }
    }

    @Test func `create the same rooms at once, without a deadlock`() throws {
        for round in 0..<10 {
            let rooms = (0..<20).map { "room-\(round)-\($0)" }
            let submissions =
                try [first.log.submissions(rooms.map { TestLog.Send(room: $0) })]
                + [second.log.submissions(rooms.reversed().map { TestLog.Send(room: $0) })]
            for (node, submissions) in zip([first, second], submissions) { node.log.log.submit(submissions) }
            for (node, submissions) in zip([first, second], submissions) {
                let outcomes = try node.log.listener.outcomes(submissions.map(\.ticket))
                #expect(outcomes.allSatisfy { (try? $0.result.get()) != nil })
            }
        }
        // PostgreSQL counts the deadlocks of a connection at its end.
        close()
        let count = """
            SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()
                AND 0 = (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                    AND pid <> pg_backend_pid())
            """
        let connection = try PostgresConnection(PostgresConnection.Settings(url: url))
        var deadlocks: Int64?
        while deadlocks == nil {
            let result = try connection.run(connection.statement(count), PostgresParameters())
            if result.count > 0 { deadlocks = result.integer(0, 0) }
        }
        #expect(deadlocks == 0)
    }

    @Test func `hear each other again after their listening connections were ended`() throws {
        defer { close() }
        try second.subscribe()
        try first.log.fill(1)
        _ = try second.messages(upTo: 1)
        try execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name IN ('backscroll listener', 'backscroll notifier')
            """)
        try first.log.fill(1)
        #expect(try second.messages(upTo: 2).count == 2)
        #expect(try #require(second.postgres.nodeCounts?.connections[.listener]).made > 1)
    }

    @Test func `find new messages although no hint came`() throws {
        defer { close() }
        try first.log.fill(1)
        try second.subscribe()
        // Another program's commit, as a node's whose hint is lost. One statement: a sweep must not come in between.
        try execute(
            """
            WITH raised AS (UPDATE rooms SET head = 2, rev = 2)
            INSERT INTO messages SELECT id + 1, 2, NULL, created_at, sender, NULL, '{"lost":1}' FROM messages
            """)
        #expect(try second.messages(upTo: 2) == [Array("{\"lost\":1}".utf8)])
        #expect(try #require(second.postgres.nodeCounts).sweptRooms > 0)
    }

    @Test func `find new messages of many rooms by one look at what has changed`() throws {
        defer { close() }
        try first.log.fill(1)
        try second.subscribe()
        // More rooms than the table has pages.
        for number in 0..<8 {
            second.subscribers.add(try RoomID("room\(number)"), loop: 0)
            _ = try second.log.replay(since: nil, of: "room\(number)")
        }
        var expected: [[UInt8]] = []
        // The first sweep compares all rooms, the later ones look at what has changed.
        for rev in 2...4 {
            try execute(
                """
                WITH raised AS (UPDATE rooms SET head = \(rev), rev = \(rev))
                INSERT INTO messages
                SELECT id + 1, \(rev), NULL, created_at, sender, NULL, '{"lost":\(rev)}' FROM messages
                ORDER BY id DESC LIMIT 1
                """)
            expected.append(Array("{\"lost\":\(rev)}".utf8))
            #expect(try second.messages(upTo: Int64(rev)) == expected)
        }
    }

    @Test func `look at what was committed after the last look, even if it began before`() throws {
        defer { close() }
        try first.log.fill(1)
        let (writer, reader) = try (
            PostgresConnection(PostgresConnection.Settings(url: url)),
            PostgresConnection(PostgresConnection.Settings(url: url))
        )
        let look = LookStatement(reader)
        try writer.execute("BEGIN", "UPDATE rooms SET rev = 7")
        let before = try look.horizon()
        #expect(before.pages == 1)
        try writer.execute("COMMIT")
        #expect(try look.hints(since: before).rooms == [RoomID("lobby"): 7])
        // Transactions of other tests may be running.
        try waitUntil {
            guard let horizon = try? look.horizon() else { return false }
            return (try? look.hints(since: horizon).isEmpty) == true
        }
    }

    @Test func `measure the age of a message that they look up, by the clock of its created_at`() throws {
        defer { close() }
        try first.log.fill(1)
        try second.subscribe()
        // A message that another node has stored a minute ago, without a hint until now.
        try execute(
            """
            WITH raised AS (UPDATE rooms SET head = 2, rev = 2)
            INSERT INTO messages SELECT id + 1, 2, NULL, created_at - 60000, sender, NULL, '{}' FROM messages
            """)
        #expect(try #require(second.delays.wait(for: 1).first) >= .seconds(60))
        // An older message that changes has no age. The next new one has.
        try first.log.edit(1, "edited")
        _ = try second.messages(upTo: 3)
        try first.log.fill(1)
        _ = try second.messages(upTo: 4)
        #expect(try second.delays.wait(for: 2).count == 2)
    }

    @Test func `ignore malformed notifications`() throws {
        defer { close() }
        try second.subscribe()
        try first.log.fill(1)
        _ = try second.messages(upTo: 1)
        try execute("SELECT pg_notify('\(Hints.channel)', 'h node lobby')")
        try first.log.fill(1)
        _ = try second.messages(upTo: 2)
        // The next hint was sent after it.
        #expect(second.postgres.listener.malformedCount == 1 || (second.postgres.nodeCounts?.sweptRooms ?? 0) > 0)
    }

    @Test func `end all subscriptions when events of access are missing, and read the bans again`() throws {
        defer { close() }
        let bob = try UserID("bob")
        func isBanned(_ node: Node) -> Bool {
            node.postgres.bans.refusal(of: bob, in: nil, isAdmin: false, for: .read, at: .now()) != nil
        }
        // Other nodes' changes, whose events were deleted.
        try execute("INSERT INTO bans VALUES (0, 'bob', 1, NULL, NULL, 'alice', 0)")
        try execute("UPDATE server SET events = events + 2, revocations = revocations + 2")
        for node in [first, second] {
            try node.log.listener.ends.wait { $0.contains([.unknown]) }
            #expect(isBanned(node))
        }
        try execute("DELETE FROM bans")
        try execute("UPDATE server SET events = events + 1")
        for node in [first, second] {
            try node.log.listener.ends.wait { $0.count { $0 == [.unknown] } == 2 }
            #expect(!isBanned(node))
        }
        // The nodes know all events again, and store.
        try first.log.fill(1)
        try second.log.fill(1)
        #expect(try first.log.state().head == 2)
    }

    @Test func `count the loss of an owner's rights among the revocations, which each must know to store messages`()
        throws
    {
        defer { close() }
        try first.log.fill(1)
        let bob = try UserID("bob")
        func revocations() throws -> Int64 {
            let connection = try PostgresConnection(PostgresConnection.Settings(url: url))
            return try connection.run(connection.statement("SELECT revocations FROM server")).integer(0, 0)
        }
        for (role, number) in [(RoomMember.Role.member, Int64(0)), (.owner, 0), (.member, 1), (.owner, 1)] {
            _ = try first.log.change(.setMember(bob, role), by: "alice").get()
            #expect(try revocations() == number)
        }
        #expect(second.log.listener.ends.events.isEmpty)
    }

    @Test func `report memberships and bans that the other one has changed`() throws {
        defer { close() }
        let (bob, lobby) = (try UserID("bob"), try RoomID("lobby"))
        _ = try first.log.change(.set(RoomSettings(visibility: .private)), by: "alice").get()
        _ = try first.log.change(.setMember(bob, nil), by: "alice").get()
        try second.log.listener.memberships.wait { $0.joined().contains { $0.user == bob && $0.room == lobby } }
        _ = try first.log.change(.removeMember(bob), by: "alice").get()
        try second.log.listener.ends.wait { $0.joined().contains(.removed(bob, from: lobby)) }
        // The node that made the change has heard of it once.
        #expect(first.log.listener.ends.events.joined().filter { $0 == .removed(bob, from: lobby) }.count == 1)
    }

    @Test func `report whatever ends access, and refuse what the other one has forbidden`() throws {
        defer { close() }
        let (bob, carol, lobby) = (try UserID("bob"), try UserID("carol"), try RoomID("lobby"))
        try first.log.fill(1)
        func hears(_ end: AccessEnd) throws {
            try second.log.listener.ends.wait { $0.joined().contains(end) }
        }
        _ = try first.log.change(.set(RoomSettings(visibility: .private)), by: "alice").get()
        try hears(.becamePrivate(lobby))
        #expect(throws: Problem.roomNotFound) { try second.log.send(.init(sender: "bob")) }

        var submission = try first.log.submission(.user(bob, .ban(BanSettings(scope: .all))), by: "root", isAdmin: true)
        submission.room = nil
        _ = try first.log.outcome(submission).get()
        try second.log.listener.ends.wait { ends in
            ends.joined().contains { if case .banned(let ban, from: nil) = $0 { ban.user == bob } else { false } }
        }
        #expect(throws: Problem.self) { try second.log.send(.init(room: "new", sender: "bob")) }
        #expect(throws: Problem.self) { try second.log.inbox(of: "bob") }

        submission = try first.log.submission(.user(carol, .erase), by: "root", isAdmin: true)
        submission.room = nil
        _ = try first.log.outcome(submission).get()
        try hears(.erased(carol))

        _ = try first.log.change(.delete, by: "alice").get()
        try hears(.roomDeleted(lobby))
        #expect(throws: Problem.roomDeleted) { try second.log.send(.init()) }
    }

    @Test func `report a ban although their own clock has passed its end`() throws {
        defer { close() }
        let now = Timestamp.now().milliseconds
        let ahead = try Node(url, TestClock(now + 3_600_000))
        defer { ahead.log.close() }
        try first.log.fill(1)
        let (bob, lobby) = (try UserID("bob"), try RoomID("lobby"))
        let ban = BanSettings(scope: .all, until: Timestamp(milliseconds: now + 1_800_000))
        _ = try first.log.change(.setBan(bob, ban), by: "alice").get()
        try ahead.log.listener.ends.wait { ends in
            ends.joined().contains { if case .banned(let ban, from: lobby) = $0 { ban.user == bob } else { false } }
        }
    }
}
