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

                    -- A room's head and revision are those of its last messages: a send writes nothing here.
                    CREATE TABLE rooms (
                        id INTEGER PRIMARY KEY,
                        name TEXT NOT NULL UNIQUE
                    );

                    -- The body is the message's snapshot, as it is sent to clients.
                    CREATE TABLE messages (
                        id INTEGER PRIMARY KEY,         -- room and seq, see RowKey
                        rev INTEGER NOT NULL,           -- the room's revision when it was sent; rises with seq
                        changed INTEGER,                -- room and rev of its latest change, see RowKey; NULL if none
                        created_at INTEGER NOT NULL,    -- milliseconds since 1970; never falls along seq
                        sender TEXT NOT NULL,
                        client_message_id TEXT,
                        body BLOB NOT NULL
                    );

                    -- What was never changed is in the order of its revisions already, so it needs no place here, and a
                    -- send does not touch this index.
                    CREATE UNIQUE INDEX messages_by_change ON messages (changed) WHERE changed IS NOT NULL;

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
