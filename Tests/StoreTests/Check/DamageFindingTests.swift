import Chat
import GRDB
import Glibc
import TestSupport
import Testing
import Wire

@testable import Store

/// One kind of damage to a database, and the findings of a check.
struct Damage: CustomTestStringConvertible, Sendable {
    var sql: String
    var findings: [String]

    init(_ sql: String, _ findings: String...) {
        self.sql = sql
        self.findings = findings
    }

    var testDescription: String { sql }
}

/// Damage that both databases can have.
extension Damage {
    private static let id = "(1 << 36) + "

    static let toMessages: [Damage] = [
        Damage(
            "DELETE FROM messages WHERE id = \(id)5", "room lobby, seq 6: message 5 is missing"),
        Damage(
            "DELETE FROM messages WHERE id IN (\(id)5, \(id)6)", "room lobby, seq 7: messages 5 to 6 are missing"),
        Damage(
            "DELETE FROM messages WHERE id = \(id)1", "room lobby, seq 2: message 1 is missing"),
        Damage(
            "UPDATE messages SET rev = 6 WHERE id = \(id)7",
            "room lobby, seq 7: this message was sent at revision 6, but the message before it at revision 6",
            "room lobby, seq 7: rev is 7 in the message's snapshot, but 6 in its row"),
        Damage(
            "UPDATE messages SET created_at = 0 WHERE id = \(id)7",
            "room lobby, seq 7: this message has an earlier created_at than the message before it", "created_at"),
        Damage(
            "UPDATE messages SET changed = \(id)8 WHERE id = \(id)2",
            "room lobby, seq 2: rev is 9 in the message's snapshot, but 8 in its row",
            "room lobby, seq 8: this message was sent at revision 8, but message 2 was changed at that revision"),
        Damage(
            "UPDATE messages SET changed = (2 << 36) + 9 WHERE id = \(id)2",
            "room lobby, seq 2: this message was last changed at revision 9 of room number 2, but sent at revision 2 of "
                + "room number 1"
        ),
        Damage(
            "UPDATE messages SET sender = 'mallory' WHERE id = \(id)7",
            "room lobby, seq 7: the sender is alice in the message's snapshot, but mallory in its row"),
        Damage(
            "UPDATE messages SET client_message_id = 'other' WHERE id = \(id)7",
            "room lobby, seq 7: the client_message_id is 'id7' in the message's snapshot, but 'other' in its row"),
        Damage(
            "UPDATE messages SET body = x'7b' WHERE id = \(id)7", "room lobby, seq 7: the snapshot cannot be read"),
        Damage(
            "UPDATE messages SET body = (SELECT body FROM messages WHERE id = (2 << 36) + 1) WHERE id = \(id)7",
            "room lobby, seq 7: the room is attic in the message's snapshot, but lobby in its row"),
        Damage(
            "UPDATE messages SET body = (SELECT body FROM messages WHERE id = \(id)6) WHERE id = \(id)7",
            "room lobby, seq 7: seq is 6 in the message's snapshot, but 7 in its row"),
        Damage(
            "UPDATE messages SET body = replace(body, '\"reply_to\":1', '\"reply_to\":9') WHERE id = \(id)8",
            "room lobby, seq 8: this message replies to message 9, which is not an earlier one"),
        Damage(
            "UPDATE messages SET body = replace(body, '\"created_at\"', '\"text\":\"x\",\"created_at\"') WHERE id = \(id)3",
            "room lobby, seq 3: this message is deleted, but still has content"),
        Damage(
            "UPDATE rooms SET name = 'two words' WHERE id = 2",
            #"room "two words": this is not a valid room id"#, #"room "two words", seq 1"#,
            #"room "two words", seq 2"#, #"room "two words", seq 3"#),
        Damage(
            "DELETE FROM rooms WHERE id = 2", "room #2: there are messages for this room number, but no such room",
            "room #2, seq 1", "room #2, seq 2", "room #2, seq 3", "room #2: alice is a member of this room number"),
    ]

    static let toBelongings: [Damage] = [
        Damage(
            "INSERT INTO pins VALUES (\(id)3, 9, 'bob')",
            "room lobby, seq 3: this message is pinned by nobody, but listed as pinned by bob"),
        Damage(
            "INSERT INTO pins VALUES (\(id)99, 9, 'bob')",
            "room #1, seq 99: this message is listed as pinned, but there is no message"),
        Damage(
            "DELETE FROM first_contents WHERE message = \(id)2",
            "room lobby, seq 2: the hash of the original content is missing"),
        Damage(
            "INSERT INTO first_contents VALUES ((2 << 36) + 1, zeroblob(32))",
            "room attic, seq 1: there is a hash of the original content, but the message has no client_message_id"),
        Damage(
            "INSERT INTO first_contents VALUES (\(id)99, zeroblob(32))",
            "room #1, seq 99: there is a hash of the original content, but no message"),
        Damage(
            "UPDATE first_contents SET fingerprint = zeroblob(31) WHERE message = \(id)2",
            "room lobby, seq 2: the hash of the original content is truncated"),
        Damage(
            "DELETE FROM reactions WHERE user = 'bob'",
            "room lobby, seq 4: the snapshot and the table name different users for the reaction ❤️"),
        Damage(
            "DELETE FROM reactions", "room lobby, seq 4: the snapshot has the reaction ❤️, but the table does not"),
        Damage(
            "INSERT INTO reactions VALUES (\(id)4, '+1', 'bob', 11)",
            "room lobby, seq 4: the table has the reaction +1, but the snapshot does not"),
        Damage(
            "UPDATE reactions SET user = 'dave' WHERE user = 'carol'",
            "room lobby, seq 4: the snapshot and the table name different users for the reaction ❤️"),
        Damage(
            "UPDATE reactions SET rev = 99 WHERE user = 'carol'",
            "room lobby, seq 4: the last reaction has revision 99, but the message has revision 12"),
        Damage(
            "INSERT INTO reactions VALUES (\(id)99, '+1', 'bob', 11)",
            "room #1, seq 99: there is a reaction to this message, but no message"),
        Damage(
            "INSERT INTO reactions VALUES (\(id)3, '+1', 'bob', 9)",
            "room lobby, seq 3: the table has the reaction +1, but the snapshot does not"),
    ]

    private static let webhook = """
        INSERT INTO webhooks (name, version, url, rooms, events, secrets, enabled, created_at, epoch)
        VALUES ('a', 1, 'https://example.com', '*', 'push', '', 1, 0, '')
        """

    static let toRooms: [Damage] = [
        Damage(
            "UPDATE read_marks SET seq = 9", "room lobby: the read mark of bob is at 9, but the room ends at 8"),
        Damage(
            "UPDATE read_marks SET seq = -1", "room lobby: the read mark of bob is at -1, but the room ends at 8"),
        Damage(
            "UPDATE read_marks SET room = 7",
            "room #7: there is the read mark of bob for this room number, but no such room"),
        Damage(
            "INSERT INTO expired VALUES (2, 4)",
            "room attic: the mark of expired messages is at 4, but the room ends at 3"),
        Damage(
            "UPDATE members SET room = 7 WHERE room = 2",
            "room #7: alice is a member of this room number, but there is no such room"),
        Damage(
            "UPDATE rooms SET slow_seconds = 3601 WHERE id = 2",
            "room attic: this room has settings out of their ranges"),
        Damage(
            "UPDATE rooms SET keep_days = 0 WHERE id = 2", "room attic: this room has settings out of their ranges"),
        Damage(
            "INSERT INTO slow_sends VALUES ('bob', 7, 0)",
            "room #7: bob has a time of slow mode in this room number, but there is no such room"),
        Damage(
            "INSERT INTO webhook_rooms VALUES (-9, 1, 0, 0, NULL)",
            "rows of webhook_rooms for webhooks that do not exist: 1"),
        Damage(
            "INSERT INTO webhook_events (webhook, room, rev, at, kind, type, details) VALUES (9, 1, 0, 0, '', '', '')",
            "rows of webhook_events for webhooks that do not exist: 1"),
        Damage("INSERT INTO pushed VALUES (9, 1, 'bob', 1, 0)", "rows of pushed for webhooks that do not exist: 1"),
        Damage(
            "INSERT INTO pushed_badges VALUES (9, 'bob', 1)",
            "rows of pushed_badges for webhooks that do not exist: 1"),
        Damage(
            "INSERT INTO push_changes (webhook, user, room) VALUES (9, 'bob', 1)",
            "rows of push_changes for webhooks that do not exist: 1"),
        Damage(
            """
            \(webhook);
            INSERT INTO webhook_rooms VALUES (-1, 7, 0, 0, NULL), (1, 1, 0, 0, NULL), (1, 0, 0, 0, NULL);
            INSERT INTO webhook_events (webhook, room, rev, at, kind, type, details)
                VALUES (1, 7, 0, 0, '', '', ''), (1, 0, 0, 0, '', '', '');
            INSERT INTO pushed VALUES (1, 7, 'bob', 1, 0), (1, 1, 'bob', 1, 0);
            INSERT INTO push_changes (webhook, user, room) VALUES (1, 'bob', 7), (1, 'bob', 1)
            """,
            "rows of webhook_rooms for rooms that do not exist: 1",
            "rows of webhook_events for rooms that do not exist: 1", "rows of pushed for rooms that do not exist: 1",
            "rows of push_changes for rooms that do not exist: 1"),
        Damage("UPDATE members SET owner = 2 WHERE room = 2", "room attic: alice has the unknown role 2"),
        Damage(
            "UPDATE members SET owner = 0; UPDATE rooms SET private = 1 WHERE id = 2",
            "room attic: this room is private, but has no owner"),
        Damage(
            "UPDATE rooms SET direct_first = 'alice', direct_second = 'bob' WHERE id = 2",
            "room attic: the id of this direct room is not that of alice and bob",
            "room attic: this direct room is not private",
            "room attic: the members of this direct room are not its two users"),
        Damage("DELETE FROM meta WHERE key = 'epoch'", "the epoch is missing"),
        Damage(
            "DELETE FROM meta WHERE key = 'fingerprint_secret'",
            "the secret for fingerprints is missing; the server cannot store messages without it"),
    ]
}

@Suite("A check finds damage", .partOfSQLite(.files))
struct DamageFindingTests {
    /// Creates a closed log with two rooms. The lobby, room 1, has eight messages: 2 was edited, 3 deleted and 4
    /// reacted to. The attic, room 2, has three.
    private func makeLog() throws -> TestLog {
        let log = try TestLog { $0.journal.messages = 0 }
        try Self.fill(log)
        log.close()
        return log
    }

    static func fill(_ log: TestLog) throws {
        try log.sendAll((1...8).map { .init(text: "text \($0)", id: "id\($0)", replyTo: $0 == 8 ? 1 : nil) })
        try log.fill(3, "attic")
        try log.edit(2, "edited")
        try log.delete(3)
        try log.react(to: 4, as: "bob")
        try log.react(to: 4, as: "carol")
        try log.read(to: 5, as: "bob")
    }

    private func findings(_ damage: String, in log: TestLog) throws -> [String] {
        try log.sql { try $0.execute(sql: damage) }
        return try DatabaseCheck(log.path).run().damages.map(\.description)
    }

    private static let id = "(1 << 36) + "

    @Test(arguments: Damage.toMessages)
    func `in the messages`(damage: Damage) throws {
        try expect(damage)
    }

    @Test(arguments: Damage.toBelongings)
    func `in the rows of reactions, replies and client message ids`(damage: Damage) throws {
        try expect(damage)
    }

    @Test(arguments: Damage.toRooms)
    func `in the rows of rooms`(damage: Damage) throws {
        try expect(damage)
    }

    @Test(arguments: [
        Damage("DROP INDEX messages_by_change", "the index messages_by_change is missing"),
        Damage(
            "DROP INDEX members_by_user; CREATE INDEX members_by_user ON members (room)",
            "the index members_by_user differs from the schema"),
        Damage("DROP TABLE expired", "the table expired is missing", "the check of members, read marks and bans"),
        Damage(
            "DROP TABLE reactions", "the index reactions_by_rev is missing", "the table reactions is missing",
            "the check of the messages stopped: no such table: reactions"),
        Damage(
            """
            DROP INDEX messages_by_client_message_id;
            UPDATE messages SET client_message_id = 'id5', body = replace(body, 'id6', 'id5') WHERE id = \(id)6
            """,
            "the index messages_by_client_message_id is missing",
            "room #1, seq 6: this message has the same client_message_id as message 5"),
        Damage("CREATE TABLE notes (text TEXT)"),
    ])
    func `in the tables`(damage: Damage) throws {
        try expect(damage)
    }

    private func expect(_ damage: Damage) throws {
        let log = try makeLog()
        let found = try findings(damage.sql, in: log)
        #expect(found.count == damage.findings.count, "\(found)")
        for (found, expected) in zip(found, damage.findings) { #expect(found.contains(expected)) }
    }

    @Test func `in a room without an owner only if it is private`() throws {
        let log = try makeLog()
        #expect(try findings("DELETE FROM members WHERE room = 2", in: log) == [])
        #expect(try DatabaseCheck(log.path).run().notes.map(\.text) == ["open rooms without an owner: 1"])
    }

    @Test func `in the journal`() throws {
        let log = try TestLog { $0.journal.idleTime = 60_000 }
        try log.fill(2)
        let spent = try log.sql {
            try String.fetchOne($0, sql: "SELECT id || ', x''' || hex(messages) || '''' FROM journal")
        }
        try log.edit(1, "x")
        for number in 1...3 { try log.send(.init(id: "id\(number)")) }
        try log.fill(1, "attic")
        /// Returns the findings in a damaged copy.
        func findings(_ damage: String) throws -> [String] {
            let directory = try TemporaryDirectory()
            let path = directory.path(of: "log.db")
            for suffix in ["", "-wal"] { try run("cp", log.path + suffix, path + suffix) }
            let copy = try DatabaseQueue(path: path)
            try copy.write { try $0.execute(sql: damage) }
            try copy.close()
            return try DatabaseCheck(path).run().damages.map(\.description)
        }
        let rows = try log.sql { try Int64.fetchAll($0, sql: "SELECT id FROM journal ORDER BY id") }
        let (first, second, third, attic) = (rows[0], rows[1], rows[2], rows[3])
        // A row whose messages were filed may still exist.
        #expect(try findings("INSERT INTO journal VALUES (\(try #require(spent)))") == [])
        #expect(try findings("DELETE FROM journal WHERE id = \(second)") == ["room lobby, seq 5: message 4 is missing"])
        #expect(
            try findings("UPDATE journal SET messages = x'00' WHERE id = \(attic)")
                == ["row \(attic) of the journal cannot be read"])
        #expect(
            try findings("DELETE FROM rooms WHERE name = 'attic'; DELETE FROM members WHERE room = 2")
                == ["row \(attic) of the journal cannot be read"])
        #expect(try findings("UPDATE read_marks SET seq = 5").isEmpty)
        #expect(try findings("INSERT INTO profiles VALUES ('bob', 'Bob', NULL, '{}')") == [])
        #expect(
            try findings("INSERT INTO profiles VALUES ('bob', 'Bob', NULL, '{')") == [
                "the profile of bob cannot be read"
            ])
        // Its head is in the journal.
        #expect(try findings("INSERT INTO read_marks VALUES ('bob', 1, 5, NULL)") == [])
        #expect(
            try findings("INSERT INTO read_marks VALUES ('bob', 1, 6, NULL)")
                == ["room lobby: the read mark of bob is at 6, but the room ends at 5"])
        // The second message with the id of the first, which is in the journal, and then with that of a filed one.
        let body = "replace(CAST(messages AS TEXT), 'id2', 'id1')"
        #expect(
            try findings("UPDATE journal SET messages = CAST(\(body) AS BLOB) WHERE id = \(second)")
                == ["room lobby, seq 4: this message has the same client_message_id as an earlier one"])
        #expect(
            try findings("UPDATE messages SET sender = 'alice', client_message_id = 'id3' WHERE id = (1 << 36) + 1")
                .contains("room lobby, seq 5: this message has the same client_message_id as message 1"))
        #expect(
            try findings("UPDATE messages SET changed = (1 << 36) + 4 WHERE id = (1 << 36) + 1")
                .contains(
                    "room lobby, seq 3: this message was sent at revision 4, but the message before it at revision 4"))
        #expect(third > second && second > first)
    }

    @Test func `in the pages of the file`() throws {
        let log = try makeLog()
        let root = try log.sql {
            try Int64.fetchOne(
                $0, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'messages_by_client_message_id'")!
        }
        let file = open(log.path, O_WRONLY | O_CLOEXEC)
        let nonsense = [UInt8](repeating: 0xA5, count: 1000)
        #expect(pwrite(file, nonsense, nonsense.count, (Int(root) - 1) * StoreConfiguration.pageSize) == nonsense.count)
        close(file)
        let report = try DatabaseCheck(log.path).run()
        #expect(!report.isSound && report.messages == 11)
    }

    @Test func `in a truncated file, and in the first page`() throws {
        let log = try makeLog()
        #expect(truncate(log.path, StoreConfiguration.pageSize * 4) == 0)
        #expect(try DatabaseCheck(log.path).run().isSound == false)
    }
}

@Suite("A check of PostgreSQL", .partOfPostgreSQL)
struct PostgresCheckTests {
    private let server: TestPostgres
    private let database: String

    init() throws {
        server = try TestPostgres.shared()
        database = try server.createDatabase()
    }

    private var url: String { server.url(of: database) }

    private func check() throws -> CheckReport {
        try DatabaseCheck(DatabaseLocation(url)).run()
    }

    private func fill() throws {
        let log = try TestLog(postgres: url)
        try DamageFindingTests.fill(log)
        log.close()
    }

    private func findings(_ damage: String) throws -> [String] {
        try server.query(damage, in: database)
        return try check().damages.map(\.description)
    }

    @Test func `finds everything sound, while messages are sent`() throws {
        let log = try TestLog(postgres: url)
        try CheckTests.fill(log)
        let report = try DatabaseCheck(DatabaseLocation(url)).run(progress: { _, _ in _ = try? log.fill(3) })
        #expect(report.isSound && report.notes.isEmpty, "\(report)")
        #expect(report.rooms == 5 && report.messages == 95)
        for _ in 0..<4 { try log.fill(1000, "long") }
        _ = try log.change(.delete, in: "b", by: "alice").get()
        let later = try check()
        #expect(later.isSound && later.rooms == 6, "\(later)")
    }

    @Test(arguments: Damage.toMessages + Damage.toBelongings + Damage.toRooms)
    func `finds the same damage to rows as in SQLite`(damage: Damage) throws {
        try fill()
        // The rows of rooms in PostgreSQL have more to disagree with.
        let found = try findings(damage.postgresSQL).filter { !$0.contains("in the room's row") }
        #expect(found.count == damage.findings.count, "\(found)")
        for (found, expected) in zip(found, damage.findings) { #expect(found.contains(expected)) }
    }

    @Test(arguments: [
        Damage(
            "UPDATE rooms SET head = 9 WHERE name = 'lobby'",
            "room lobby: the highest seq is 9 in the room's row, but 8 in its messages"),
        Damage(
            "UPDATE rooms SET rev = 8 WHERE name = 'lobby'",
            "room lobby: the latest revision is 8 in the room's row, but 12 in its messages"),
        Damage(
            "UPDATE rooms SET active_at = NULL WHERE name = 'attic'",
            "room attic: the time of the newest message is 0 in the room's row, but "),
        Damage(
            "DELETE FROM messages WHERE id >> 36 = 2",
            "room attic: the highest seq is 3 in the room's row, but 0 in its messages",
            "room attic: the latest revision is 3", "room attic: the time of the newest message is "),
        Damage("DROP INDEX messages_by_change", "the index messages_by_change is missing"),
        Damage("ALTER TABLE members DROP CONSTRAINT members_pkey", "the index members_pkey is missing"),
        Damage(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'members_by_user'::regclass",
            "the index members_by_user is not valid: rebuild it with REINDEX"),
        Damage(
            "DROP TABLE reactions", "the table reactions is missing", "the index reactions_pkey is missing",
            "the index reactions_by_rev is missing",
            #"the check of the messages stopped: relation "reactions" does not exist"#),
        Damage(
            """
            DROP INDEX messages_by_client_message_id;
            UPDATE messages SET client_message_id = 'id5',
                body = convert_to(replace(convert_from(body, 'UTF8'), 'id6', 'id5'), 'UTF8') WHERE id = (1::bigint << 36) + 6
            """,
            "the index messages_by_client_message_id is missing",
            "room #1, seq 6: this message has the same client_message_id as message 5"),
        Damage("DELETE FROM server", "the row of the table server is missing; nodes cannot start without it"),
        Damage(
            "INSERT INTO events VALUES (99, 'n', 0, '', 0)", "there is an event 99, but the last one is "),
        Damage("DROP FUNCTION backscroll_send", "the function backscroll_send is missing"),
        Damage("DELETE FROM members WHERE room = 2"),
    ])
    func `finds damage that only PostgreSQL can have`(damage: Damage) throws {
        try fill()
        let found = try findings(damage.sql)
        #expect(found.count == damage.findings.count, "\(found)")
        for (found, expected) in zip(found, damage.findings) { #expect(found.contains(expected)) }
    }

    @Test func `refuses another program's database, a newer version, and one that cannot be reached`() throws {
        func refusal(_ url: String) -> String? {
            #expect(throws: StoreError.self) { try DatabaseCheck(DatabaseLocation(url)).run() }?.description
        }
        #expect(refusal(url)?.contains("is not a database of Backscroll") == true)
        try fill()
        #expect(try check().isSound)
        try server.query("UPDATE meta SET value = '1' WHERE key = 'version'", in: database)
        #expect(try check().notes.map(\.text).contains { $0.contains("older version") })
        try server.query("UPDATE meta SET value = '99' WHERE key = 'version'", in: database)
        #expect(refusal(url)?.contains("newer version") == true)
        #expect(refusal(server.url(of: "none"))?.contains("does not exist") == true)
    }
}

extension Damage {
    /// The damage in PostgreSQL's SQL.
    fileprivate var postgresSQL: String {
        sql.replacing(/\buser\b/) { "\"\($0.output)\"" }
            .replacing("x'7b'", with: #"'\x7b'"#)
            .replacing(/zeroblob\((\d+)\)/) { "decode(repeat('00', \($0.output.1)), 'hex')" }
            .replacing(/replace\(body, ('[^']*'), ('[^']*')\)/) {
                "convert_to(replace(convert_from(body, 'UTF8'), \($0.output.1), \($0.output.2)), 'UTF8')"
            }
            // Numbers of PostgreSQL have 32 bits unless they are given a type.
            .replacing(/(\d) << 36/) { "\($0.output.1)::bigint << 36" }
    }
}
