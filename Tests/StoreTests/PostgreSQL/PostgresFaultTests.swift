import Chat
import Dispatch
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

/// Faults of PostgreSQL in the moment of a commit, and of the way to it.
@Suite("Faults of PostgreSQL", .partOfPostgreSQL)
struct PostgresFaultTests {
    private static let writer = "backscroll writer"
    private let server: TestPostgres
    private let database: String
    private var url: String { server.url(of: database) }

    init() throws {
        // No standby has this name, so a commit that waits for one waits until its connection ends. By default none does.
        server = try TestPostgres(
            settings: ["synchronous_standby_names": "nobody", "synchronous_commit": "local"])
        database = try server.createDatabase()
    }

    private func log(_ configure: (inout StoreConfiguration) -> Void = { _ in }) throws -> TestLog {
        try TestLog(postgres: url) {
            $0.writers = 1
            $0.readers = 1
            // The default of the database decides if a commit waits for the standby.
            $0.pinsSynchronousCommit = false
            // Only tests of silence wait for it.
            $0.databaseAnswerTime = PostgresConnection.Settings.commandAnswerTime
            // Only tests of locked rooms do not wait for their locks.
            $0.roomLockTime = PostgresConnection.Settings.commandAnswerTime
            configure(&$0)
        }
    }

    /// A connection that holds a room's lock until the transaction ends.
    private func holder(of room: String = "lobby") throws -> PostgresConnection {
        let connection = try PostgresConnection(
            PostgresConnection.Settings(
                url: url, purpose: "holder", answerTime: PostgresConnection.Settings.commandAnswerTime))
        try connection.execute("BEGIN", "SELECT 1 FROM rooms WHERE name = '\(room)' FOR UPDATE")
        return connection
    }

    /// Waits until backends of a purpose wait for something.
    private func waitForWaiting(_ purpose: String = writer, on event: String = "Lock", count: Int = 1) throws {
        try waitUntil {
            let found = try? server.query(
                """
                SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)' AND application_name = '\(purpose)'
                    AND '\(event)' IN (wait_event_type, wait_event)
                """)
            return found?[0][0].flatMap { Int($0) } ?? 0 >= count
        }
    }

    @Test func `do not lose a commit under way to an admin who adds a webhook meanwhile`() throws {
        let log = try log()
        try log.send(TestLog.Send(text: "first"))
        @Sendable func set(_ id: String) throws {
            var settings = WebhookSettings()
            settings.url = "https://example.com/hook"
            let time = Timestamp(milliseconds: 1)
            _ = try log.log.webhookStore().set(WebhookID(id), settings, secret: "whsec_x", at: time)
        }
        // With the first webhook the tables change, too, and wait for their locks anyway.
        try set("a")
        let isHeld = DispatchSemaphore(value: 0)
        let isSeen = Atomic(false)
        inParallel(2) { index in
            if index == 0 {
                isHeld.wait()
                // Gives up after 5 seconds, which may pass before the other thread has seen the wait.
                while (try? set("b")) == nil, !isSeen.load(ordering: .relaxed) {}
                return
            }
            defer { isHeld.signal() }
            let holder = try holder()
            try holder.execute("UPDATE rooms SET bytes = bytes")
            isHeld.signal()
            try waitForWaiting("backscroll webhooks", on: "relation")
            isSeen.store(true, ordering: .relaxed)
            try holder.execute("ROLLBACK")
        }
    }

    private func storedTexts() throws -> [String] {
        try server.query("SELECT convert_from(body, 'UTF8')::json->>'text' FROM messages ORDER BY id", in: database)
            .compactMap(\.[0])
    }

    private let sends = [TestLog.Send(text: "named", id: "a"), TestLog.Send(text: "unnamed")]

    @Test func `before a commit lose no send with a client message id, and store none without one`() throws {
        let log = try log()
        try log.send(TestLog.Send(text: "first"))
        let submissions = try log.submissions(sends)
        let holder = try holder()
        log.log.submit(submissions)
        try waitForWaiting()
        try server.terminateConnections(to: database, purpose: Self.writer)
        // The named one is tried again.
        try waitForWaiting()
        try holder.execute("ROLLBACK")
        let results = try log.listener.outcomes(submissions.map(\.ticket)).map(\.result)
        #expect(try results[0].get().isNew)
        let refusal = #expect(throws: Problem.self) { try results[1].get() }
        #expect(refusal?.code == .unavailable && refusal?.detail.contains("may be stored") == true)
        #expect(try storedTexts() == ["first", "named"])
        log.close()
    }

    @Test func `after a commit store a send with a client message id once, and report that one without may be stored`()
        throws
    {
        let log = try log()
        try log.send(TestLog.Send(text: "first"))
        // The caretaker's report must not wait for the standby, too: the log's end waits for the caretaker.
        try waitUntil { (try? server.query("SELECT days FROM retention", in: database).count) == 1 }
        // The writer's next connection waits for the standby after it has committed.
        try server.query("ALTER DATABASE \(database) SET synchronous_commit = 'on'")
        try server.terminateConnections(to: database, purpose: Self.writer)
        let submissions = try log.submissions(sends)
        log.log.submit(submissions)
        try waitForWaiting(on: "SyncRep")
        try server.query("ALTER DATABASE \(database) RESET synchronous_commit")
        try server.terminateConnections(to: database, purpose: Self.writer)
        let results = try log.listener.outcomes(submissions.map(\.ticket)).map(\.result)
        let receipt = try results[0].get()
        #expect(receipt.seq == 2 && !receipt.isNew)
        let refusal = #expect(throws: Problem.self) { try results[1].get() }
        #expect(refusal?.code == .unavailable && refusal?.detail.contains("may be stored") == true)
        #expect(try storedTexts() == ["first", "named", "unnamed"])
        #expect(try log.send(TestLog.Send(text: "next")).seq == 4)
        log.close()
    }

    @Test func `such as a deadlock are hidden from senders`() throws {
        let log = try log()
        for room in ["a", "b", "c"] { try log.send(TestLog.Send(room: room)) }
        let submissions = try log.submissions(["a", "b", "c"].map { TestLog.Send(text: "second", room: $0) })
        let (middle, last) = (try holder(of: "b"), try holder(of: "c"))
        log.log.submit(submissions)
        // The batch has locked the first room, and waits for the second.
        try waitForWaiting()
        // It never looks for a deadlock, so the batch does, as soon as it waits for the third room.
        try last.execute("SET deadlock_timeout = '1h'")
        let group = DispatchGroup()
        // Used by one thread at a time: this one waits for the group before it goes on.
        nonisolated(unsafe) let other = last
        DispatchQueue(label: "deadlock").async(group: group) {
            #expect(throws: Never.self) { try other.execute("SELECT 1 FROM rooms WHERE name = 'a' FOR UPDATE") }
        }
        try waitForWaiting("holder")
        try middle.execute("ROLLBACK")
        group.wait()
        try last.execute("ROLLBACK")
        for result in try log.listener.outcomes(submissions.map(\.ticket)).map(\.result) {
            #expect(try result.get().seq == 2)
        }
        try waitUntil {
            let count = try? server.query("SELECT deadlocks FROM pg_stat_database WHERE datname = '\(database)'")
            return count.map { $0 != [["0"]] } ?? false
        }
        log.close()
    }

    @Test(arguments: zip(["read committed", "repeatable read", "serializable"], [true, true, false]))
    func `do not let a send that waits for a room's lock be stored after its sender was removed or banned`(
        isolation: String, isRemoval: Bool
    ) throws {
        try server.query("ALTER DATABASE \(database) SET default_transaction_isolation = '\(isolation)'")
        let nodes = try [log(), log()]
        let bob = try UserID("bob")
        _ = try nodes[0].change(.set(RoomSettings(visibility: .private, title: nil)), by: "alice").get()
        _ = try nodes[0].change(.setMember(bob, nil), by: "alice").get()
        #expect(try nodes[1].send(TestLog.Send(text: "member", sender: "bob")).seq == 1)
        let ban = BanSettings(scope: .send, until: nil, reason: nil)
        let restriction: RoomChange = isRemoval ? .removeMember(bob) : .setBan(bob, ban)
        let holder = try holder()
        let removal = try nodes[0].submission(.room(restriction), by: "alice")
        nodes[0].log.submit([removal])
        try waitForWaiting()
        let sends = try nodes[1].submissions([
            TestLog.Send(text: "removed", sender: "bob"), TestLog.Send(text: "owner", sender: "alice"),
        ])
        nodes[1].log.submit(sends)
        // PostgreSQL gives the lock to the removal, which was first.
        try waitForWaiting(count: 2)
        try holder.execute("ROLLBACK")
        _ = try nodes[0].listener.outcomes([removal.ticket])[0].result.get()
        let results = try nodes[1].listener.outcomes(sends.map(\.ticket)).map(\.result)
        #expect(throws: Problem.self) { try results[0].get() }
        #expect(try results[1].get().seq == 2)
        #expect(try storedTexts() == ["member", "owner"])
        for node in nodes { node.close() }
    }

    @Test func `that leave a statement without an answer only delay sends and pages`() throws {
        let log = try log { $0.databaseAnswerTime = .seconds(1) }
        // On a busy machine an answer may come too late at any time.
        func send(_ text: String) throws {
            try waitUntil { (try? log.send(TestLog.Send(text: text, id: text))) != nil }
        }
        try send("first")
        try waitUntil { (try? log.page()) != nil }
        for purpose in [Self.writer, "backscroll reader"] {
            // The threads do not wait for it to go on, but connect again.
            try server.withStoppedBackends(of: database, purpose: purpose) {
                try waitUntil { (try? log.page()) != nil }
                try send(purpose)
            }
        }
        #expect(try storedTexts() == ["first", Self.writer, "backscroll reader"])
        log.close()
    }

    @Test func `that leave the listener without an answer are reported until it has reconnected`() throws {
        let changes = Recorder<String?>()
        let log = try log {
            $0.databaseAnswerTime = .seconds(1)
            $0.onListeningChange = { changes.record($0) }
        }
        let postgres = log.log as! PostgresLog
        try waitUntil { postgres.nodeCounts?.connections[.listener]?.made ?? 0 > 0 }
        #expect(log.log.failure == nil)
        // It reads events of access at least every 500 ms.
        try server.withStoppedBackends(of: database, purpose: "backscroll listener") {
            try changes.wait { $0.contains { $0?.contains("did not answer") == true } }
            // It does not wait for it to go on, but connects again.
            try changes.wait { $0.last == .some(nil) }
        }
        log.close()
    }

    @Test func `such as a failover are reported once, and stop the node until it is opened again`() throws {
        let reports = Recorder<Void>()
        let log = try log { $0.onOtherHistory = { reports.record(()) } }
        try log.send(TestLog.Send(text: "first", id: "a"))
        _ = try log.page()
        // As after a failover: the database is on another timeline, and all connections are new.
        try server.query("UPDATE meta SET value = '1/00000001' WHERE key = 'timeline'", in: database)
        try server.terminateConnections(to: database)
        // The node finds out by itself, by the listener.
        try reports.wait(for: 1)
        #expect(log.log.failure?.contains("another history") == true)
        #expect(throws: Problem.self) { try log.page() }
        #expect(throws: Problem.self) { try log.send(TestLog.Send(text: "first", id: "a")) }
        log.close()
        #expect(reports.events.count == 1)
        let again = try self.log()
        #expect(again.log.epoch != log.log.epoch)
        #expect(try again.send(TestLog.Send(text: "first", id: "a")).isNew == false)
        again.close()
    }

    @Test(arguments: [true, false])
    func `such as a read-only database are named when a log is opened, and by the writer`(isStandby: Bool) throws {
        let health = Recorder<String?>()
        let log = try log {
            $0.idleProbeInterval = 10
            $0.probeInterval = 10
            $0.onHealthChange = { health.record($0) }
        }
        try log.send(TestLog.Send(text: "first"))
        let reason = isStandby ? "it is a standby" : "default_transaction_read_only is on"
        if isStandby {
            server.stop(.fast)
            try server.setStandby(true)
            try server.start()
        } else {
            // Also for connections that exist.
            try server.query("ALTER SYSTEM SET default_transaction_read_only = on")
            try server.query("SELECT pg_reload_conf()")
        }
        #expect(try health.wait(for: 1)[0] == "the database is read-only: \(reason)")
        // The reader may connect later than the writer.
        try waitUntil { (try? log.page(.newest).count) == 1 }
        let refusal = #expect(throws: StoreError.self) { try self.log() }
        #expect(refusal?.description.contains("the database is read-only: \(reason)") == true)
        if isStandby {
            server.stop(.fast)
            try server.setStandby(false)
            try server.start()
        } else {
            try server.query("ALTER SYSTEM RESET default_transaction_read_only")
            try server.query("SELECT pg_reload_conf()")
        }
        // In between there may be other reasons, such as that the server stops.
        try waitUntil { log.log.failure == nil }
        try log.send(TestLog.Send(text: "second"))
        #expect(try storedTexts() == ["first", "second"])
        log.close()
    }

    @Test func `such as a read-only database stay reported while changes come that store nothing`() throws {
        let health = Recorder<String?>()
        let log = try log {
            $0.idleProbeInterval = 10
            $0.probeInterval = 10
            $0.onHealthChange = { health.record($0) }
        }
        try log.send(TestLog.Send(text: "first"))
        try server.query("ALTER SYSTEM SET default_transaction_read_only = on")
        try server.query("SELECT pg_reload_conf()")
        try health.wait(for: 1)
        for _ in 0..<2 {
            #expect(throws: Problem.self) { try log.react(to: 1) }
            // A room that does not exist has no row to lock, so the database refuses nothing.
            #expect(throws: Problem.self) { try log.react(to: 1, of: "missing") }
            #expect(log.log.failure != nil)
        }
        #expect(!health.events.contains(nil))
        try server.query("ALTER SYSTEM RESET default_transaction_read_only")
        try server.query("SELECT pg_reload_conf()")
        try waitUntil { log.log.failure == nil }
        #expect(health.events.filter { $0 == nil }.count == 1)
        log.close()
    }

    @Test(arguments: ["fsync", "full_page_writes"])
    func `that it could lose by a crash keep a node from storing, unless it may`(setting: String) throws {
        try server.query("ALTER SYSTEM SET \(setting) = off")
        try server.query("SELECT pg_reload_conf()")
        try waitUntil { (try? server.query("SHOW \(setting)")) == [["off"]] }
        let log = try log {
            $0.idleProbeInterval = 10
            $0.probeInterval = 10
        }
        // From the start.
        #expect(log.log.failure?.hasPrefix("\(setting) is off in PostgreSQL") == true)
        #expect(throws: Problem.self) { try log.send(TestLog.Send(text: "refused")) }
        #expect(log.log.failure?.hasPrefix("\(setting) is off in PostgreSQL") == true)
        let warnings = Recorder<String>()
        let reckless = try self.log {
            $0.allowsUnsafeDatabase = true
            $0.onUnsafeDatabase = { warnings.record($0) }
        }
        #expect(warnings.events == ["\(setting) is off"])
        try reckless.send(TestLog.Send(text: "first"))
        #expect(reckless.log.failure == nil)
        reckless.close()
        try server.query("ALTER SYSTEM RESET \(setting)")
        try server.query("SELECT pg_reload_conf()")
        try waitUntil { log.log.failure == nil }
        try log.send(TestLog.Send(text: "second"))
        // Also a node that stores all the time notices the change.
        try server.query("ALTER SYSTEM SET \(setting) = off")
        try server.query("SELECT pg_reload_conf()")
        try waitUntil { (try? log.send(TestLog.Send(text: "more"))) == nil && log.log.failure != nil }
        log.close()
    }

    @Test func `do not let a batch be stored that its node has given up`() throws {
        let log = try log()
        try log.send(TestLog.Send(text: "first"))
        let holder = try holder()
        do {
            let connection = try PostgresConnection(
                PostgresConnection.Settings(url: url, purpose: "abandoned", answerTime: .seconds(2)))
            #expect(throws: PostgresError.self) { try connection.execute("UPDATE rooms SET head = 99") }
            #expect(try server.backends(of: database, purpose: "abandoned").count == 1)
        }
        // The lock is still held, so only the look at the connection ends the statement.
        try waitUntil { (try? server.backends(of: database, purpose: "abandoned").isEmpty) == true }
        try holder.execute("ROLLBACK")
        #expect(try server.query("SELECT head FROM rooms", in: database) == [["1"]])
        log.close()
    }

    @Test func `do not let the transaction of a stopped client keep its locks`() throws {
        let log = try log()
        try log.send(TestLog.Send(text: "first"))
        let stopped = try PostgresConnection(
            PostgresConnection.Settings(url: url, purpose: "stopped", answerTime: .seconds(2)))
        try stopped.execute("BEGIN", "SELECT 1 FROM rooms FOR UPDATE")
        try log.send(TestLog.Send(text: "second"))
        let error = #expect(throws: PostgresError.self) { try stopped.execute("COMMIT") }
        #expect(error?.kind == .connection)
        #expect(!stopped.isAlive)
        log.close()
    }

    @Test func `such as a locked room hold up only that room, whose changes are made later in order`() throws {
        let log = try log { $0.roomLockTime = .milliseconds(50) }
        try log.sendAll([.init(room: "lobby"), .init(room: "other")])
        let holder = try holder()
        let held =
            try log.submissions([.init(text: "a"), .init(text: "b")])
            + [log.submission(TestLog.Change(seq: 1, action: .edit(Edit(text: "edited"))))]
        log.log.submit(held)
        for number in 2...20 {
            #expect(try log.send(.init(room: "other")).seq == Int64(number))
            #expect(try log.edit(1, "\(number)", of: "other").seq == 1)
        }
        #expect(try log.change(.setMember(UserID("bob"), .member), in: "other", by: "alice").get().isNew)
        #expect(log.log.failure == nil)
        try holder.execute("ROLLBACK")
        let results = try log.listener.outcomes(held.map(\.ticket)).map(\.result)
        #expect(try results.map { try $0.get().seq } == [2, 3, 1])
        #expect(try storedTexts().filter { ["a", "b", "edited"].contains($0) } == ["edited", "a", "b"])
        log.close()
    }

    @Test func `such as a ban that is committed while a transaction waits for its room hold for it`() throws {
        let log = try log()
        try log.send(TestLog.Send(text: "first", sender: "bob"))
        let holder = try holder()
        let edit = try log.submission(
            TestLog.Change(seq: 1, action: .edit(Edit(text: "edited")), user: "bob"))
        log.log.submit([edit])
        try waitForWaiting()
        // The commit of another node.
        try holder.execute(
            "SET LOCAL synchronous_commit = local",
            "INSERT INTO bans SELECT id, 'bob', 0, NULL, NULL, 'alice', 0 FROM rooms",
            "UPDATE rooms SET access = access + 1",
            "UPDATE server SET events = events + 1, revocations = revocations + 1",
            "INSERT INTO events SELECT events, 'other', 1, 'ban bob lobby', 0 FROM server", "COMMIT")
        let refusal = #expect(throws: Problem.self) {
            try log.listener.outcomes([edit.ticket])[0].result.get()
        }
        #expect(refusal?.code == .banned)
        #expect(try storedTexts() == ["first"])
        log.close()
    }

    @Test func `such as a name that another transaction reserves hold up only that new room`() throws {
        let log = try log { $0.roomLockTime = .milliseconds(50) }
        try log.send(.init(room: "other"))
        let connection = try holder(of: "nothing")
        try connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('lobby', 0))")
        let held = try log.submissions([.init(text: "first")])
        log.log.submit(held)
        for number in 2...20 { #expect(try log.send(.init(room: "other")).seq == Int64(number)) }
        try connection.execute("ROLLBACK")
        #expect(try log.listener.outcomes(held.map(\.ticket))[0].result.get().seq == 1)
        log.close()
    }

    @Test func `refuse the changes of a locked room once they have waited too long, and not those of other rooms`()
        throws
    {
        let log = try log {
            $0.roomLockTime = .milliseconds(50)
            $0.changeAge = .milliseconds(200)
        }
        try log.send(.init(text: "first"))
        let holder = try holder()
        #expect(throws: Problem.tooLate) { try log.send(.init(text: "late")) }
        #expect(log.log.failure == nil)
        try holder.execute("ROLLBACK")
        try waitUntil { (try? log.send(.init(text: "second")).seq) == 2 }
        #expect(try storedTexts() == ["first", "second"])
        log.close()
    }

    @Test func `after the commit of a change do not make it fail because it is done already`() throws {
        let log = try log()
        _ = try log.change(.set(RoomSettings(visibility: .private)), by: "alice").get()
        _ = try log.change(.setMember(UserID("bob"), .owner), by: "alice").get()
        let changes: [(RoomChange, String)] = [
            // Alice is no longer an owner, bob no longer a member, and the room is no longer there when it is tried again.
            (.setMember(try UserID("alice"), .member), "alice"), (.removeMember(try UserID("alice")), "alice"),
            (.delete, "bob"),
        ]
        for (change, user) in changes {
            try server.query("ALTER DATABASE \(database) SET synchronous_commit = 'on'")
            try server.terminateConnections(to: database, purpose: Self.writer)
            let submission = try log.submission(.room(change), by: user)
            log.log.submit([submission])
            try waitForWaiting(on: "SyncRep")
            try server.query("ALTER DATABASE \(database) RESET synchronous_commit")
            try server.terminateConnections(to: database, purpose: Self.writer)
            #expect(throws: Never.self) { try log.listener.outcomes([submission.ticket])[0].result.get() }
        }
        #expect(try server.query("SELECT deleted FROM rooms", in: database) == [["1"]])
        // The observer has heard of all of them.
        #expect(log.listener.ends.events.joined().contains(.roomDeleted(try RoomID("lobby"))))
        log.close()
    }

    @Test func `with a restart leave it open what became of a transaction, whose number may be another's now`() throws {
        let log = try log()
        try log.send(TestLog.Send(text: "first"))
        let time = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
        let row = try server.query("SELECT xmin::text, \(time) FROM rooms", in: database)[0]
        let transaction = try #require(row[0])
        let begun = Timestamp(milliseconds: try #require(row[1].flatMap { Int64($0) }))
        let connector = PostgresConnector(
            PostgresConnection.Settings(url: url), purpose: .exchange, countedBy: DatabaseConnections())
        #expect(try connector.use().status(of: transaction, begun: begun) == "committed")
        try server.restart(.immediate)
        #expect(try connector.use().status(of: transaction, begun: begun) == "")
        let now = try #require(try server.query("SELECT \(time)", in: database)[0][0].flatMap { Int64($0) })
        #expect(try connector.use().status(of: transaction, begun: Timestamp(milliseconds: now + 1)) == "committed")
        log.close()
    }

    @Test func `that keep a node from hearing of a removal do not keep it from learning of it before it stores`() throws
    {
        let nodes = try [log(), log()]
        let bob = try UserID("bob")
        _ = try nodes[0].change(.set(RoomSettings(visibility: .private)), by: "alice").get()
        _ = try nodes[0].change(.setMember(bob, nil), by: "alice").get()
        try nodes[1].send(.init(text: "known"))
        try server.withStoppedBackends(of: database, purpose: "backscroll listener") {
            _ = try nodes[0].change(.removeMember(bob), by: "alice").get()
            try nodes[1].send(.init(text: "next"))
            #expect(nodes[1].listener.ends.events.joined().contains(.removed(bob, from: try RoomID("lobby"))))
            // A reader also asks, once the node does not know enough any more.
            let ban = BanSettings(scope: .all, until: nil, reason: nil)
            _ = try nodes[0].change(.setBan(UserID("carol"), ban), by: "alice").get()
            try waitUntil { !nodes[1].log.accessTerm.isValid }
            _ = try nodes[1].page(.newest, for: "alice")
            #expect(!nodes[1].log.bans.isEmpty && nodes[1].log.accessTerm.isValid)
        }
        for node in nodes { node.close() }
    }

    @Test func `that stop a node cannot make it keep locks, or the caretaker's work, for long`() throws {
        let bounds = PostgresConnection.Settings.ChangeBounds()
        let node = PostgresConnection.Settings(url: url, changes: bounds)
        let counts = DatabaseConnections()
        for (purpose, expected) in [
            (NodeCounts.Purpose.writer, ["2s", "5s", "500ms"]), (.caretaker, ["2s", "5s", "500ms"]),
            (.reader, ["10s", "0", "0"]), (.listener, ["10s", "0", "0"]),
        ] {
            let connection = try PostgresConnector(node, purpose: purpose, countedBy: counts).connect()
            let shown = try ["idle_in_transaction_session_timeout", "idle_session_timeout", "lock_timeout"].map {
                try connection.run(connection.statement("SHOW \($0)")).text(0, 0)
            }
            #expect(shown == expected, "\(purpose)")
        }
    }

    @Test func `such as a caretaker whose session ends let another node continue its work`() throws {
        let nodes = try [log(), log()]
        func holders() -> [Int] {
            nodes.indices.filter { (nodes[$0].log as! PostgresLog).nodeCounts?.isCaretaker == true }
        }
        try waitUntil { holders().count == 1 }
        let first = holders()[0]
        nodes[first].close()
        try waitUntil { holders() == [1 - first] }
        nodes[1 - first].close()
    }

    @Test func `such as the end of room numbers are reported as what they are`() throws {
        let (numbers, reports) = (RoomNumbers(), Recorder<Void>())
        let log = try log {
            $0.roomNumbers = numbers
            $0.onRoomLimit = { reports.record(()) }
        }
        try log.send(.init(text: "first"))
        try server.query("ALTER TABLE rooms ALTER COLUMN id RESTART WITH \(RowKey.maximumRoom)", in: database)
        #expect(try log.send(.init(room: "last")).seq == 1)
        let results = try log.sendAll([.init(room: "another"), .init(text: "second"), .init(room: "third")])
        for refused in [results[0], results[2]] {
            #expect(throws: Problem.unavailable("The database has the maximum number of rooms.")) { try refused.get() }
        }
        #expect(try results[1].get().seq == 2)
        #expect(numbers.highest == RowKey.maximumRoom && numbers.refused == 2 && reports.events.count == 1)
        #expect(log.log.failure == nil)
        log.close()
    }
}
