import GRDB

/// The tables, and how a database of an older version becomes one of this version.
enum Schema {
    /// What tells our databases from those of other programs: `BkSc` in the file's header.
    static let applicationID: Int32 = 0x426B_5363

    /// The version that changes messages, and keeps a secret for that.
    static let changes = "v3"

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
                        id INTEGER PRIMARY KEY CHECK (id < 1 << 27),    -- what RowKey has room for
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
        migrator.registerMigration("v2") { db in
            try db.execute(
                sql: """
                    -- The messages of one commit, until each has its place in messages, see JournalRow.
                    CREATE TABLE journal (
                        id INTEGER PRIMARY KEY,
                        messages BLOB NOT NULL
                    );
                    """)
        }
        migrator.registerMigration(changes) { db in
            try db.execute(
                sql: """
                    -- Who has reacted to a message with what. How many did, and with which key first, is in its body.
                    CREATE TABLE reactions (
                        message INTEGER NOT NULL,       -- see messages.id
                        key TEXT NOT NULL,
                        user TEXT NOT NULL,
                        rev INTEGER NOT NULL,           -- the room's revision that the reaction was
                        PRIMARY KEY (message, key, user)
                    ) WITHOUT ROWID;

                    -- The first users of a key are looked for when one of them takes a reaction back.
                    CREATE UNIQUE INDEX reactions_by_rev ON reactions (message, key, rev);

                    -- What was first sent, of messages with a client message id that were edited or deleted since, see
                    -- Fingerprinter.
                    CREATE TABLE first_contents (
                        message INTEGER PRIMARY KEY,    -- see messages.id
                        fingerprint BLOB NOT NULL
                    );
                    """)
            try db.execute(
                sql: "INSERT INTO meta VALUES ('fingerprint_secret', ?)", arguments: [Fingerprinter.makeSecret()])
        }
        registerRooms(in: &migrator)
        registerRoomTimes(in: &migrator)
        registerExpiry(in: &migrator)
        registerRemoval(in: &migrator)
        registerBans(in: &migrator)
        registerErasure(in: &migrator)
        registerTotals(in: &migrator)
        registerActivity(in: &migrator)
        return migrator
    }

    /// Makes sure that the database is one of ours, of this version or older, or an empty one, which becomes ours.
    static func check(_ db: Database, path: String) throws {
        if try Int32.fetchOne(db, sql: "PRAGMA application_id") != applicationID {
            guard try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0 else {
                throw StoreError.notADatabase(path)
            }
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        }
        try checkVersion(db, path: path)
    }

    /// Makes sure that the database is of this version or older.
    static func checkVersion(_ db: Database, path: String) throws {
        let unknown = try migrator.appliedIdentifiers(db).subtracting(migrator.migrations)
        guard unknown.isEmpty else { throw StoreError.newer(path, migrations: unknown.sorted()) }
    }

    /// The name of the history that the database holds; `nil` when there is none.
    static func epoch(_ db: Database) throws -> String? {
        try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'epoch'")
    }

    /// A random name for a history: 20 letters and digits, 119 bits.
    static func makeEpoch() -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        var generator = SystemRandomNumberGenerator()
        return String((0..<20).map { _ in letters.randomElement(using: &generator)! })
    }
}
