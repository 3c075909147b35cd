import Chat
import GRDB
import Glibc
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The tables", .partOfSQLite(.files))
struct SchemaTests {
    @Test func `are created in an empty file`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("", to: "log.db")
        #expect(try TestLog(in: directory).send(.init()).seq == 1)
    }

    @Test func `have pages of 8 KiB in a new file; an existing file keeps its size`() throws {
        let pageSize = "PRAGMA page_size"
        #expect(try TestLog().sql { try Int.fetchOne($0, sql: pageSize) } == 8192)
        let directory = try TemporaryDirectory()
        let database = try SQLiteDatabase(path: directory.path(of: "log.db"))
        try database.use { db in
            try db.execute("PRAGMA page_size = 4096")
            try Schema.check(db, path: "log.db")
        }
        database.close()
        let log = try TestLog(in: directory)
        #expect(try log.send(.init()).seq == 1)
        #expect(try log.sql { try Int.fetchOne($0, sql: pageSize) } == 4096)
    }

    @Test func `are created in a file whose creation was interrupted`() throws {
        let directory = try TemporaryDirectory()
        let database = try DatabaseQueue(path: directory.path(of: "log.db"))
        try database.write { db in
            try db.execute(
                sql: """
                    PRAGMA application_id = \(Schema.applicationID);
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    """)
        }
        try database.close()
        #expect(try TestLog(in: directory).send(.init()).seq == 1)
    }

    @Test func `of this version are opened unchanged, any number of times`() throws {
        var log = try TestLog()
        let tables = "SELECT group_concat(sql, ';') FROM sqlite_schema"
        let before = try log.sql { try String.fetchOne($0, sql: tables) }
        for seq in 1...3 as ClosedRange<Int64> {
            #expect(try log.send(.init()).seq == seq)
            log = try log.reopened()
        }
        #expect(try log.sql { try String.fetchOne($0, sql: tables) } == before)
        #expect(
            try log.sql { try String.fetchAll($0, sql: "SELECT * FROM grdb_migrations") }
                == [
                    "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
                    "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
                ])
    }

    // Databases of users have these tables. A migration of another version than the newest must not change.
    @Test func `of each version are those that were released`() throws {
        let directory = try TemporaryDirectory()
        let digests = try Schema.migrations.map { migration in
            let path = directory.path(of: migration.name)
            try makeDatabase(at: path, upTo: migration.name)
            let database = try DatabaseQueue(path: path)
            defer { try? database.close() }
            // The index of words has tables that SQLite itself makes.
            return try database.read { db in
                let tables = try String.fetchAll(
                    db,
                    sql: """
                        SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'words_*' ORDER BY name
                        """)
                return digest(ofTables: tables.joined(separator: "\n"))
            }
        }
        #expect(
            digests == [
                "25d05c09", "e60398bc", "7fc9cbf8", "6a8e72ae", "14d10730", "9241efc7", "7d8ab789", "304b224a",
                "1f09682a", "58fda0a8", "496b4bcd", "ea596274", "0d7e0b82", "5378ada5", "4ec83642", "55bdd503",
                "ad4dfeff", "9b0aaf99", "74c3aea2", "753d9e91", "bddd3bd0", "8e52c8d8", "0a445e1d", "2cbcbc62",
                "b7e15c5a",
            ])
    }

    @Test func `of the first version are migrated, and its messages can be changed`() throws {
        let directory = try TemporaryDirectory()
        try makeDatabase(at: directory.path(of: "log.db"), upTo: "v2")
        let database = try DatabaseQueue(path: directory.path(of: "log.db"))
        let draft = TestLog.Send(text: "hi", id: "a1").draft
        let alice = try UserID("alice")
        let messages = try (1...2 as ClosedRange<Int64>).map { seq in
            var body: [UInt8] = []
            let key = seq == 1 ? ClientMessageKey(sender: alice, id: "a1") : nil
            Message.encode(
                room: try RoomID("lobby"), seq: seq, rev: seq, sender: alice,
                draft: key == nil ? Draft(content: draft.content) : draft, createdAt: .earliest, into: &body)
            return RecentMessage(
                room: try RoomID("lobby"), roomNumber: 1, seq: seq, rev: seq, createdAt: .earliest, sender: alice,
                key: key, body: body)
        }
        var row: [UInt8] = []
        for message in messages { JournalRow.append(message, to: &row) }
        try database.write { db in
            try db.execute(sql: "INSERT INTO rooms (id, name) VALUES (1, 'lobby')")
            let hex = row.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            try db.execute(sql: "INSERT INTO journal VALUES (1, x'\(hex)')")
        }
        try database.close()

        let log = try TestLog(in: directory)
        #expect(try log.page().messages == joined(messages.map(\.body)))
        #expect(try log.edit(1, "bye").rev == 3)
        #expect(try log.delete(2).rev == 4)
        #expect(try log.send(.init(text: "hi", id: "a1")).rev == 3)
        #expect(throws: Problem.clientMessageIDReused) { try log.send(.init(text: "bye", id: "a1")) }
    }

    @Test func `include an epoch of the database's own, which stays`() throws {
        let epochs = try (0..<5).map { _ in
            let log = try TestLog()
            let epoch = log.log.epoch
            #expect(epoch.count == 20 && epoch.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
            #expect(try log.reopened().log.epoch == epoch)
            return epoch
        }
        #expect(Set(epochs).count == 5)
    }

    @Test func `are on disk when a commit is reported, and readable by others`() throws {
        let directory = try TemporaryDirectory()
        let file = try DatabaseFile(directory.path(of: "log.db"))
        let writer = try file.connectForWriting(StoreConfiguration())
        let reader = try file.connectForReading(StoreConfiguration())
        func settings(_ database: SQLiteDatabase, _ names: String...) throws -> [String] {
            try database.use { db in try names.map { try db.first("PRAGMA \($0)") { $0.text(0) }! } }
        }
        #expect(try settings(writer, "synchronous", "journal_mode", "cache_size") == ["2", "wal", "-65536"])
        #expect(try settings(writer, "secure_delete") == ["1"])
        #expect(try settings(writer, "application_id") == ["\(Schema.applicationID)"])
        #expect(try settings(reader, "cache_size", "mmap_size") == ["-4096", "0"])
        #expect(throws: SQLiteError.self) {
            try reader.use { try $0.execute("DELETE FROM meta") }
        }
    }

    @Test func `allow no two messages the same place, revision or client message id`() throws {
        let log = try TestLog { $0.journal.messages = 0 }
        try log.sendAll([.init(id: "a"), .init(id: "b"), .init()])
        for change in [
            "UPDATE messages SET id = id + 1 WHERE id & 3 = 1",
            "UPDATE messages SET changed = 5 WHERE id & 3 < 3",
            "UPDATE messages SET client_message_id = 'a'",
            "UPDATE messages SET body = NULL", "UPDATE messages SET sender = NULL",
            "UPDATE rooms SET id = 1 << 27", "INSERT INTO rooms (name) VALUES ('lobby')",
        ] {
            let error = #expect(throws: DatabaseError.self, "\(change)") {
                try log.sql { try $0.execute(sql: change) }
            }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT)
        }
    }

    @Test func `are read by searches, not by scans, for sends and pages`() throws {
        let log = try TestLog()
        let queries = [
            "SELECT id, private FROM rooms WHERE name = ?",
            "SELECT id, rev, created_at FROM messages WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1",
            "SELECT changed FROM messages WHERE changed > ? AND changed <= ? ORDER BY changed DESC LIMIT 1",
            "SELECT id, rev, changed, body FROM messages WHERE id >> 36 = ? AND sender = ? AND client_message_id = ?",
            "SELECT body FROM messages WHERE id >= ? AND id <= ? ORDER BY id",
            "SELECT changed, body FROM messages WHERE changed > ? AND changed <= ? ORDER BY changed",
            "SELECT user FROM reactions WHERE message = ? AND key = ? ORDER BY rev LIMIT 50",
        ]
        try log.sql { db in
            for query in queries {
                let plan = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + query.replacing("?", with: "1"))
                    .map { $0["detail"] as String }
                #expect(plan.count == 1 && plan[0].hasPrefix("SEARCH "), "\(query): \(plan)")
            }
        }
    }
}
