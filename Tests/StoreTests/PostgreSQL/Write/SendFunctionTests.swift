import Chat
import Glibc
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("backscroll_send", .partOfPostgreSQL, .timeLimit(.minutes(30)))
struct SendFunctionTests {
    /// An app's connection to the database.
    private struct App {
        let db: PostgresConnection

        init(_ url: String) throws { db = try PostgresConnection(PostgresConnection.Settings(url: url)) }

        struct Sent: Equatable {
            var seq: Int64
            var rev: Int64
            var created = true
        }

        @discardableResult
        func send(
            _ text: String?, id: String? = nil, data: String? = nil, to room: String = "lobby",
            as sender: String = "alice"
        ) throws -> Sent {
            var parameters = PostgresParameters()
            for text in [room, sender, id, text, data] { parameters.append(text) }
            let result = try db.run(
                "SELECT seq, rev, created::int::bigint FROM backscroll_send($1, $2, $3, $4, $5::text::jsonb)",
                parameters)
            return Sent(seq: result.integer(0, 0), rev: result.integer(0, 1), created: result.integer(0, 2) == 1)
        }

        /// Returns the SQLSTATE and the code of the error of a send.
        func refusal(_ body: () throws -> Sent) -> String {
            do {
                return "\(try body())"
            } catch let error as PostgresError {
                return Self.refusal(error)
            } catch {
                return "\(error)"
            }
        }

        static func refusal(_ error: PostgresError) -> String {
            "\(error.state) \(error.description.prefix { $0 != ":" })"
        }
    }

    private let server: TestPostgres
    private let database: String
    private var url: String { server.url(of: database) }
    private let log: TestLog
    private let app: App

    init() throws {
        server = try TestPostgres.shared()
        database = try server.createDatabase()
        log = try TestLog(postgres: server.url(of: database))
        app = try App(server.url(of: database))
    }

    /// Changes a user as an admin.
    private func change(_ change: UserChange, of user: String) throws {
        var submission = try log.submission(.user(UserID(user), change), by: "root", isAdmin: true)
        submission.room = nil
        _ = try log.outcome(submission).get()
    }

    /// Expects that the database is as sound as one that only nodes have written.
    private func expectSound() throws {
        #expect(try DatabaseCheck(DatabaseLocation(url)).run().damages.map(\.description) == [])
        let bytes = "SELECT bytes - (SELECT sum(length(body)) FROM messages WHERE id >> 36 = rooms.id) FROM rooms"
        #expect(try server.query(bytes, in: database).allSatisfy { $0 == ["0"] })
    }

    @Test func `stores the bytes and rows that a node stores`() throws {
        try log.fill(2)
        try log.join("lobby", as: "bob")
        let data = #"{"a": [1, {"b, c": ": \"x\\"}], "d": null, "é\u0001": 1.50}"#
        let compact = #"{"a":[1,{"b, c":": \"x\\"}],"d":null,"é\u0001":1.50}"#
        let nasty = (1..<0x20).map { String(UnicodeScalar(UInt8($0))) }.joined() + "\u{7F}\"\\/ é 日本 👩‍👩‍👧 \u{2028}%s $1"
        for (text, id, given, stored) in [
            ("hi", nil, nil, ""), (nasty, "\"é\\\u{1}", data, compact), ("x", ".a", "{}", ""), ("y", nil, "null", ""),
        ] {
            let sent = try app.send(text, id: id, data: given, as: "bob\"\\é")
            let message = try #require(try log.stored(sent.seq))
            #expect(sent == App.Sent(seq: message.seq, rev: message.rev))
            let draft = TestLog.Send(text: text, id: id, data: stored).draft
            var expected: [UInt8] = []
            Message.encode(
                room: try RoomID("lobby"), seq: sent.seq, rev: sent.rev, sender: try UserID("bob\"\\é"), draft: draft,
                createdAt: try Message(decoding: message.body).createdAt, into: &expected)
            #expect(String(decoding: message.body, as: UTF8.self) == String(decoding: expected, as: UTF8.self))
        }
        try app.send("hi", as: "bob")
        let engaged = try server.query("SELECT engaged FROM members WHERE \"user\" = 'bob'", in: database)
        #expect(engaged == [["1"]])
        #expect(try log.fill(1).count == 1)
        #expect(try log.state() == RoomState(head: 8, rev: 8))
        try expectSound()
    }

    @Test func `belongs to the caller's transaction: a rollback leaves nothing, also to a savepoint`() throws {
        try log.fill(1)
        try app.db.execute("BEGIN", "CREATE TEMP TABLE orders (id int)")
        #expect(try app.send("never", id: "a") == App.Sent(seq: 2, rev: 2))
        #expect(try app.send("never") == App.Sent(seq: 3, rev: 3))
        try app.db.execute("ROLLBACK")
        #expect(try log.state() == RoomState(head: 1, rev: 1))
        try app.db.execute("BEGIN", "SAVEPOINT a")
        try app.send("never")
        try app.db.execute("ROLLBACK TO a")
        #expect(try app.send("two", id: "a") == App.Sent(seq: 2, rev: 2))
        try app.db.execute("COMMIT")
        #expect(try log.sendAll([.init(text: "three")])[0].get().seq == 3)
        try expectSound()
    }

    @Test func `and sends of nodes give a room its places without a gap, in order on each node`() throws {
        let subscribers = [SubscribedLoops(), SubscribedLoops()]
        let nodes = try subscribers.map { try TestLog(postgres: url, subscribers: $0) }
        defer { for node in nodes { node.close() } }
        try log.fill(1)
        for (node, loops) in zip(nodes, subscribers) {
            loops.add(try RoomID("lobby"), loop: 0)
            #expect(try node.replay(since: nil).rev == 1)
        }
        let (apps, rounds) = (2, 25)
        let submissions = try nodes.map { try $0.submissions((0..<rounds).map { TestLog.Send(text: "node \($0)") }) }
        let address = url
        for (node, submissions) in zip(nodes, submissions) { node.log.submit(submissions) }
        inParallel(apps) { number in
            let app = try App(address)
            for round in 0..<rounds {
                try app.db.execute("BEGIN")
                try app.send("app \(number) \(round)", id: "\(number) \(round)")
                try app.send("second")
                try app.db.execute(round % 5 == 0 ? "ROLLBACK" : "COMMIT")
            }
        }
        for (node, submissions) in zip(nodes, submissions) {
            for outcome in try node.listener.outcomes(submissions.map(\.ticket)) { _ = try outcome.result.get() }
        }
        let count = Int64(1 + 2 * rounds + apps * rounds * 2 * 4 / 5)
        #expect(try log.state() == RoomState(head: count, rev: count))
        for node in nodes {
            let commits = try node.listener.commits.wait { $0.flatMap(\.batches).contains { $0.rev == count } }
            var rev: Int64 = 1
            for batch in commits.flatMap(\.batches) where batch.rev > rev {
                #expect(batch.since <= rev, "no revision is missing")
                rev = batch.rev
            }
            #expect(rev == count)
        }
        try expectSound()
    }

    @Test func `tells other nodes by a notification, which they understand`() throws {
        let subscribers = SubscribedLoops()
        let node = try TestLog(postgres: url, subscribers: subscribers)
        defer { node.close() }
        try log.fill(1)
        subscribers.add(try RoomID("lobby"), loop: 0)
        #expect(try node.replay(since: nil).rev == 1)
        let other = node.log as! PostgresLog
        // Without hints of `log`, which has closed. The sweep may find a message first.
        log.close()
        let before = other.nodeCounts?.hintsReceived ?? 0
        var sent: Int64 = 1
        while other.nodeCounts?.hintsReceived == before {
            try #require(sent < 10_000)
            sent = try app.send("hi").seq
            try node.listener.commits.wait { $0.flatMap(\.batches).contains { $0.rev >= sent } }
        }
    }

    @Test func `of a caller that is killed is rolled back, and the room is free again`() throws {
        try log.fill(1)
        let directory = try TemporaryDirectory()
        let output = directory.path(of: "output")
        let pipe = PipeEnds()
        let psql = try spawn("psql", ["-qAt", "-d", url], input: pipe.reading, output: output)
        close(pipe.reading)
        let script = "BEGIN; SELECT seq FROM backscroll_send('lobby', 'alice', 'a', 'never');\n"
        #expect(write(pipe.writing, script, script.utf8.count) == script.utf8.count)
        try waitUntil {
            let descriptor = open(output, O_RDONLY)
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: 100)
            let count = read(descriptor, &bytes, bytes.count)
            return count > 0 && String(decoding: bytes[..<count], as: UTF8.self).hasPrefix("2")
        }
        let waiting = try log.submissions([.init(text: "two", id: "b")])
        log.log.submit(waiting)
        kill(psql, SIGKILL)
        var status: Int32 = 0
        while waitpid(psql, &status, 0) < 0 && errno == EINTR {}
        close(pipe.writing)
        #expect(try log.listener.outcomes(waiting.map(\.ticket))[0].result.get().seq == 2)
        #expect(try app.send("three", id: "a") == App.Sent(seq: 3, rev: 3))
        try expectSound()
    }

    @Test func `is idempotent by the client's id, together with the sends of nodes`() throws {
        try log.fill(1)
        let data = #"{"b":1,"a":[2]}"#
        #expect(try app.send("two", id: "a", data: data).created)
        #expect(try app.send("two", id: "a", data: #"{"a":[2.0],"b":1}"#) == App.Sent(seq: 2, rev: 2, created: false))
        #expect(try log.send(.init(text: "two", id: "a", data: #"{"a":[2],"b":1}"#)).isNew == false)
        for (text, data) in [("TWO", data), ("two", nil), ("two", #"{"b":1}"#)] as [(String, String?)] {
            #expect(app.refusal { try app.send(text, id: "a", data: data) } == "SB422 client_message_id_reused")
        }
        #expect(try app.send("two", id: "a", as: "bob").created)
        try log.send(.init(text: "of a node", id: "n"))
        #expect(try app.send("of a node", id: "n") == App.Sent(seq: 4, rev: 4, created: false))
        try log.send(.init(text: "h*", id: "c", original: "hi"))
        #expect(try app.send("hi", id: "c") == App.Sent(seq: 5, rev: 5, created: false))
        try log.edit(2, "changed")
        #expect(try app.send("two", id: "a", data: data) == App.Sent(seq: 2, rev: 6, created: false))
        #expect(try log.send(.init(text: "two", id: "a", data: data)).isNew == false)
        try log.delete(2)
        #expect(try app.send("two", id: "a", data: data) == App.Sent(seq: 2, rev: 7, created: false))
        #expect(try log.state() == RoomState(head: 5, rev: 7))
        try expectSound()
    }

    @Test func `refuses what a node would refuse, with a SQLSTATE of its own and the code of the API`() throws {
        try log.fill(1)
        try log.fill(1, "gone")
        _ = try log.change(.delete, in: "gone", by: "alice").get()
        let room = try log.makeDirect("alice", with: "bob")
        _ = try log.block("bob", of: "alice")
        try change(.ban(BanSettings(scope: .send)), of: "mallory")
        let long = String(repeating: "é", count: Limits.textBytes / 2)
        let deep = String(repeating: #"{"a":"#, count: Limits.dataDepth - 1) + "{}"
        let end = String(repeating: "}", count: Limits.dataDepth - 1)
        let cases: [(String, () throws -> App.Sent)] = [
            ("SB404 room_not_found", { try app.send("x", to: "nowhere") }),
            ("SB410 room_deleted", { try app.send("x", to: "gone") }),
            ("SB403 blocked", { try app.send("x", to: room) }),
            ("SB403 banned", { try app.send("x", as: "mallory") }),
            ("SB422 empty_message", { try app.send("") }), ("SB422 empty_message", { try app.send(nil) }),
            ("SB422 empty_message", { try app.send(" \u{200B}\u{3164}\n") }),
            ("SB422 too_long", { try app.send(long + "x") }),
            ("SB422 invalid_user", { try app.send("x", as: "a b") }),
            ("SB422 invalid_user", { try app.send("x", as: "") }),
            ("SB422 invalid_user", { try app.send("x", as: "~deleted") }),
            ("SB422 invalid_user", { try app.send("x", as: String(repeating: "x", count: 129)) }),
            ("SB422 invalid_field", { try app.send("x", id: "") }),
            ("SB422 invalid_field", { try app.send("x", id: "..") }),
            ("SB422 invalid_field", { try app.send("x", id: String(repeating: "x", count: 129)) }),
            ("SB422 invalid_field", { try app.send("x", data: "[]") }),
            ("SB422 too_long", { try app.send("x", data: #"{"a":"\#(String(repeating: "x", count: 8185))"}"#) }),
            ("SB422 too_deep", { try app.send("x", data: #"{"a":[\#(deep)\#(end)]}"#) }),
        ]
        for (index, (refusal, send)) in cases.enumerated() { #expect(app.refusal(send) == refusal, "case \(index)") }
        // What fits exactly.
        #expect(try app.send(long, data: #"{"a":"\#(String(repeating: "x", count: 8184))"}"#).seq == 2)
        #expect(try app.send("x", data: deep + end).seq == 3)
        #expect(try app.send("x", to: room, as: "bob").seq == 1)
        // Membership and who may post are for the app to decide.
        _ = try log.change(.set(RoomSettings(visibility: .private, posting: .owners, slowSeconds: 60)), by: "alice")
            .get()
        for seq in [4, 5] as [Int64] { #expect(try app.send("x", as: "bob").seq == seq) }
        try change(.erase, of: "carol")
        try server.query("UPDATE erasures SET erased = 0 WHERE \"user\" = 'carol'", in: database)
        #expect(app.refusal { try app.send("x", as: "carol") } == "SB503 unavailable")
        try server.query("UPDATE rooms SET rev = (1::bigint << 36) - 1 WHERE name = 'lobby'", in: database)
        #expect(app.refusal { try app.send("x") } == "SB503 unavailable")
    }

    @Test func `answers a repeated call of a sender who has been blocked or banned since`() throws {
        let room = try log.makeDirect("alice", with: "bob")
        try log.fill(1)
        #expect(try app.send("x", id: "a", to: room) == App.Sent(seq: 1, rev: 1))
        #expect(try app.send("x", id: "a", as: "mallory") == App.Sent(seq: 2, rev: 2))
        _ = try log.block("bob", of: "alice")
        try change(.ban(BanSettings(scope: .send)), of: "mallory")
        #expect(try app.send("x", id: "a", to: room) == App.Sent(seq: 1, rev: 1, created: false))
        #expect(try app.send("x", id: "a", as: "mallory") == App.Sent(seq: 2, rev: 2, created: false))
        #expect(app.refusal { try app.send("y", id: "a", to: room) } == "SB422 client_message_id_reused")
        #expect(app.refusal { try app.send("x", id: "b", to: room) } == "SB403 blocked")
        #expect(app.refusal { try app.send("x", id: "b", as: "mallory") } == "SB403 banned")
    }

    @Test func `answers as a node does for an admin, whatever bans, blocks and erasures there are`() throws {
        try log.fill(1)
        let senders = ["alice", "mallory", "muted", "kept", "root"]
        var rooms = ["lobby"]
        for other in ["bob", "blocking", "leaving", "back", "gone"] {
            for sender in senders where sender != "root" { rooms.append(try log.makeDirect(sender, with: other)) }
        }
        for sender in senders {
            for room in rooms { try app.send("x", id: "a", to: room, as: sender) }
        }
        for (user, scope) in [("mallory", .all), ("muted", .send)] as [(String, Ban.Scope)] {
            try change(.ban(BanSettings(scope: scope)), of: user)
        }
        _ = try log.change(.setBan(UserID("kept"), BanSettings(scope: .all)), by: "root", isAdmin: true).get()
        for sender in senders where sender != "root" { try log.block("blocking", of: sender) }
        try change(.erase, of: "gone")
        try waitUntil { try server.query("SELECT 1 FROM jobs", in: database).isEmpty }
        // Erasures that last as long as the test, because they have no job.
        try server.query("INSERT INTO erasures VALUES ('leaving', 0, 0), ('back', 0, 0)", in: database)
        try server.query(
            """
            INSERT INTO returns ("user", room, seq, rev)
            SELECT 'back', id, 0, 0 FROM rooms WHERE 'back' IN (direct_first, direct_second)
            """, in: database)
        let node = try TestLog(postgres: url)
        defer { node.close() }
        var answers: Set<String> = []
        for (room, sender) in rooms.flatMap({ room in senders.map { (room, $0) } }) {
            for (text, id) in [("x", "a"), ("y", "a"), ("x", "b"), ("x", nil)] {
                var trial = try node.submission(
                    .send(TestLog.Send(text: text, id: id).draft), in: room, by: sender, isAdmin: true)
                trial.isTrial = true
                let expected =
                    switch try node.outcome(trial) {
                    case .success(let receipt): if case .permitted = receipt { "stored" } else { "repeated" }
                    case .failure(let problem): "SB\(problem.status) \(problem.code)"
                    }
                try app.db.execute("BEGIN")
                let answer: String
                do {
                    answer = try app.send(text, id: id, to: room, as: sender).created ? "stored" : "repeated"
                } catch let error as PostgresError {
                    answer = App.refusal(error)
                }
                try app.db.execute("ROLLBACK")
                #expect(answer == expected, "\(text), \(id ?? "no id"), by \(sender) to \(room)")
                answers.insert(answer)
            }
        }
        #expect(
            answers == [
                "stored", "repeated", "SB403 banned", "SB403 blocked", "SB422 direct_room",
                "SB422 client_message_id_reused",
            ])
    }

    @Test func `of an earlier version is replaced, and who may execute it stays`() throws {
        let role = "app_\(database)"
        try server.query("CREATE ROLE \(role)", in: database)
        defer { _ = try? server.query("DROP ROLE \(role)", in: database) }
        let old = try server.createDatabase()
        defer { _ = try? server.query("DROP OWNED BY \(role)", in: old) }
        let connection = try PostgresConnection(PostgresConnection.Settings(url: server.url(of: old)))
        let version = try #require(PostgresSchema.migrations.firstIndex(of: SendFunction.first)) + 1
        try connection.execute("CREATE TABLE meta (key TEXT COLLATE \"C\" PRIMARY KEY, value TEXT NOT NULL)")
        for statement in PostgresSchema.migrations[..<version].joined() { try connection.execute(statement) }
        try connection.execute(
            "INSERT INTO meta VALUES ('version', '\(version)')",
            "GRANT EXECUTE ON FUNCTION backscroll_send TO \(role)")
        let definition = "SELECT pg_get_functiondef('\(SendFunction.signature)'::regprocedure)"
        #expect(try server.query(definition, in: old) != server.query(definition, in: database))
        try PostgresSchema.migrate(connection)
        #expect(try server.query(definition, in: old) == server.query(definition, in: database))
        let rights = ["public", role].map { "has_function_privilege('\($0)', '\(SendFunction.signature)', 'EXECUTE')" }
        #expect(try server.query("SELECT \(rights.joined(separator: ", "))", in: old) == [["f", "t"]])
    }

    @Test func `brings a direct room into the lists of both, and tells nodes of it`() throws {
        try log.fill(1)
        let room = try log.makeDirect("alice", with: "bob")
        #expect(try log.inbox(of: "bob").rooms.isEmpty)
        #expect(try app.send("hi", to: room).seq == 1)
        #expect(try log.inbox(of: "bob").rooms.map(\.summary.room.string) == [room])
        let events = try server.query("SELECT payload, revocation FROM events WHERE node = 'sql'", in: database)
        #expect(events == [["joined bob \(room) 0", "0"]])
        try app.send("again", to: room)
        #expect(try server.query("SELECT count(*) FROM events WHERE node = 'sql'", in: database) == [["1"]])
        // The next event of a node follows it.
        try log.join("lobby", as: "bob")
        try expectSound()
    }

    @Test func `lists the room for webhooks`() throws {
        try log.fill(1)
        var settings = WebhookSettings()
        settings.url = "https://example.com/"
        let store = try log.log.webhookStore()
        _ = try store.set(WebhookID("a"), settings, secret: "whsec_x", at: Timestamp(milliseconds: 1))
        try app.send("hi")
        #expect(try store.behind(store.webhooks()[0], after: 0, limit: 9).map { "\($0.id) \($0.rev)" } == ["lobby 1"])
    }

    @Test func `may be executed by roles that are granted it, which need no rights to tables, and by no others`() throws
    {
        try log.fill(1)
        let role = "app_\(database)"
        try server.query("CREATE ROLE \(role)", in: database)
        defer {
            _ = try? server.query("DROP OWNED BY \(role)", in: database)
            _ = try? server.query("DROP ROLE \(role)", in: database)
        }
        try app.db.execute("SET ROLE \(role)")
        #expect(app.refusal { try app.send("x") }.hasPrefix("42501 "))
        try server.query("GRANT EXECUTE ON FUNCTION backscroll_send TO \(role)", in: database)
        // Neither the caller's settings nor the caller's tables matter.
        try app.db.execute("CREATE TEMP TABLE rooms (name text)", "CREATE TEMP TABLE messages (id int)")
        try app.db.execute("SET standard_conforming_strings = off", "SET search_path = pg_temp, public")
        #expect(try app.send("x\\y", data: #"{"a": "\\"}"#).seq == 2)
        let reading = app.refusal {
            _ = try app.db.run("SELECT * FROM public.messages")
            return App.Sent(seq: 0, rev: 0)
        }
        #expect(reading.hasPrefix("42501 "))
        let stored = String(decoding: try #require(try log.message(2)), as: UTF8.self)
        #expect(stored.contains(#""text":"x\\y","data":{"a":"\\"}"#))
    }

    @Test func `knows the characters that nothing shows and that no user id has`() throws {
        func scalars(_ condition: String) throws -> Set<UInt32> {
            let rows = try server.query(
                """
                SELECT n FROM generate_series(1, 1114111) AS n
                WHERE n NOT BETWEEN 55296 AND 57343 AND chr(n) COLLATE "C" ~ '\(condition)'
                """, in: database)
            return Set(rows.compactMap { $0[0].flatMap { UInt32($0) } })
        }
        let all = (1...0x10FFFF as ClosedRange<UInt32>).compactMap(UnicodeScalar.init)
        #expect(try scalars(SendFunction.blank) == Set(all.filter { String($0).isBlank }.map(\.value)))
        let refused = all.filter { scalar in
            scalar.properties.generalCategory != .unassigned && scalar != "." && (try? UserID(String(scalar))) == nil
        }
        let found = try scalars(SendFunction.notInUserID)
        #expect(found.isSuperset(of: refused.map(\.value)))
        #expect(found.allSatisfy { (try? UserID(String(UnicodeScalar($0)!))) == nil })
    }
}
