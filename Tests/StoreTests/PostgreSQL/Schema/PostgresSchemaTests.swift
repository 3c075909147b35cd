import TestSupport
import Testing

@testable import Store

@Suite("An upgrade of the tables in PostgreSQL", .partOfPostgreSQL)
struct PostgresSchemaTests {
    // Databases of users have these tables. A migration of another version than the newest must not change.
    @Test func `makes the changes of each version that were released`() {
        #expect(
            PostgresSchema.migrations.map { digest(ofTables: $0.joined(separator: "\n")) } == [
                "04ab9915", "54df3f88", "9086cad1", "2454b365", "c60b5a5c", "0a99e2ac", "7cd7e902", "0a32e54c",
                "b169fcd3", "8951545a", "1f49ea73", "4e89e748", "a594956a", "a5e91779", "37aa22a0", "2427a850",
                "2a2fb932", "999c0ec6", "c2e67d6b", "ae7bbbfe", "8a3d06e3",
            ])
    }

    @Test func `keeps the history, its secret and what is stored, from each version on`() throws {
        let server = try TestPostgres.shared()
        for version in 1..<PostgresSchema.version {
            let database = try server.createDatabase()
            let connection = try PostgresConnection(PostgresConnection.Settings(url: server.url(of: database)))
            try connection.execute("CREATE TABLE meta (key TEXT COLLATE \"C\" PRIMARY KEY, value TEXT NOT NULL)")
            for statement in PostgresSchema.migrations[..<version].joined() { try connection.execute(statement) }
            // All of version 1.
            for statement in [
                "INSERT INTO meta VALUES ('version', '\(version)'), ('epoch', 'old'), ('fingerprint_secret', 'secret')",
                "INSERT INTO rooms (name, head, rev, private, title) VALUES ('lobby', 1, 2, 1, 'The lobby')",
                "INSERT INTO messages (id, rev, changed, created_at, sender, client_message_id, body) "
                    + "VALUES ((1 << 36) + 1, 1, (1 << 36) + 2, 1, 'alice', 'a1', 'body')",
                "INSERT INTO reactions VALUES ((1 << 36) + 1, '👍', 'bob', 2)",
                "INSERT INTO first_contents VALUES ((1 << 36) + 1, 'fingerprint')",
                "INSERT INTO read_marks (\"user\", room, seq) VALUES ('bob', 1, 1)",
                "INSERT INTO members (room, \"user\", owner) VALUES (1, 'alice', 1), (1, 'bob', 0)",
                "INSERT INTO bans (room, \"user\", reads, set_by, created_at) VALUES (1, 'mallory', 1, 'alice', 1)",
                "INSERT INTO erasures VALUES ('carol', 1, 3)",
            ] {
                try connection.execute(statement.replacing("(1 << 36)", with: "(1::bigint << 36)"))
            }
            try PostgresSchema.migrate(connection)
            let rows = [
                "SELECT value FROM meta WHERE key IN ('epoch', 'fingerprint_secret') ORDER BY key",
                "SELECT concat_ws(' ', name, head, rev, private, title, posting, searchable) FROM rooms",
                "SELECT concat_ws(' ', rev, sender, client_message_id, convert_from(body, 'UTF8')) FROM messages",
                "SELECT concat_ws(' ', key, \"user\", rev) FROM reactions",
                "SELECT convert_from(fingerprint, 'UTF8') FROM first_contents",
                "SELECT concat_ws(' ', \"user\", seq) FROM read_marks",
                "SELECT concat_ws(' ', \"user\", owner) FROM members ORDER BY \"user\"",
                "SELECT concat_ws(' ', \"user\", set_by) FROM bans",
                "SELECT concat_ws(' ', \"user\", erased, messages) FROM erasures",
                "SELECT value FROM meta WHERE key = 'version'",
            ]
            #expect(
                try rows.flatMap { try server.query($0, in: database).map { $0[0] } } == [
                    "old", "secret", "lobby 1 2 1 The lobby 0 1", "1 alice a1 body", "👍 bob 2", "fingerprint", "bob 1",
                    "alice 1", "bob 0", "mallory alice", "carol 1 3", "\(PostgresSchema.version)",
                ], "from version \(version)")
        }
    }
}
