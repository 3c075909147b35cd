import GRDB

/// The tables, and how a database of an older version becomes one of this version.
enum Schema {
    /// Every version's changes, the oldest first. A migration that has been released is never changed.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE meta (
                        key TEXT PRIMARY KEY NOT NULL,
                        value TEXT NOT NULL
                    ) WITHOUT ROWID;

                    CREATE TABLE rooms (
                        id INTEGER PRIMARY KEY,
                        name TEXT NOT NULL UNIQUE,
                        head INTEGER NOT NULL,          -- the highest seq
                        rev INTEGER NOT NULL,           -- the latest revision
                        latest_at INTEGER NOT NULL      -- created_at of the newest message
                    );

                    -- Times are milliseconds since 1970. The body is the message's snapshot, as it is sent to clients.
                    CREATE TABLE messages (
                        id INTEGER PRIMARY KEY,         -- room and seq, see RowKey
                        revision INTEGER NOT NULL,      -- room and rev, see RowKey
                        created_at INTEGER NOT NULL,
                        sender TEXT NOT NULL,
                        client_message_id TEXT,
                        body BLOB NOT NULL
                    );

                    CREATE UNIQUE INDEX messages_by_revision ON messages (revision);

                    -- One message for each client message id, for ever: this is what makes sends idempotent.
                    CREATE UNIQUE INDEX messages_by_client_message_id
                        ON messages (id >> 36, sender, client_message_id)
                        WHERE client_message_id IS NOT NULL;
                    """)
            try db.execute(
                sql: "INSERT INTO meta VALUES ('epoch', ?)", arguments: [makeEpoch()])
        }
        return migrator
    }

    /// A random name for a history: 20 letters and digits, 119 bits.
    static func makeEpoch() -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        var generator = SystemRandomNumberGenerator()
        return String((0..<20).map { _ in letters.randomElement(using: &generator)! })
    }
}
