import BackscrollClient
import GRDB

/// The tables of a store, by versions.
///
/// A table of the store keeps their version, because an app's database may have migrations of its own.
enum StoreSchema {
    /// The steps from each version to the next. Steps that were released never change.
    static let migrations: [@Sendable (Database) throws -> Void] = [
        { db in
            try db.execute(
                sql: """
                    CREATE TABLE backscroll_account (
                        id INTEGER PRIMARY KEY,
                        server TEXT NOT NULL,
                        user TEXT NOT NULL,
                        UNIQUE (server, user)
                    );

                    CREATE TABLE backscroll_room (
                        id INTEGER PRIMARY KEY,
                        account INTEGER NOT NULL REFERENCES backscroll_account ON DELETE CASCADE,
                        name TEXT NOT NULL,
                        epoch TEXT,                     -- NULL before the first page
                        read INTEGER,                   -- the user's mark, NULL if unknown
                        unsent_mark INTEGER,            -- a mark that the server may not have
                        opened INTEGER NOT NULL,        -- the highest is that of the room opened last
                        bytes INTEGER NOT NULL,         -- of its messages
                        UNIQUE (account, name)
                    );

                    -- The messages from first to last are stored; see MessageRun.
                    CREATE TABLE backscroll_run (
                        room INTEGER NOT NULL REFERENCES backscroll_room ON DELETE CASCADE,
                        first INTEGER NOT NULL,
                        last INTEGER NOT NULL,
                        rev INTEGER NOT NULL,
                        has_after INTEGER NOT NULL,
                        PRIMARY KEY (room, first)
                    ) WITHOUT ROWID;

                    CREATE TABLE backscroll_message (
                        room INTEGER NOT NULL REFERENCES backscroll_room ON DELETE CASCADE,
                        seq INTEGER NOT NULL,
                        rev INTEGER NOT NULL,
                        json BLOB NOT NULL,
                        PRIMARY KEY (room, seq)
                    ) WITHOUT ROWID;

                    -- Sends that are not known to be stored by the server, by id in their order.
                    CREATE TABLE backscroll_send (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        room INTEGER NOT NULL REFERENCES backscroll_room ON DELETE CASCADE,
                        client_message_id TEXT NOT NULL,
                        at INTEGER NOT NULL,            -- milliseconds since 1970
                        refusal TEXT,                   -- the server's error code, NULL while it is to be posted
                        json BLOB NOT NULL,
                        UNIQUE (room, client_message_id)
                    );
                    """)
        },
        { db in
            try db.execute(
                sql: """
                    -- The list of the user's rooms; see StoredInboxRoom.
                    CREATE TABLE backscroll_inbox (
                        account INTEGER NOT NULL REFERENCES backscroll_account ON DELETE CASCADE,
                        name TEXT NOT NULL,
                        latest INTEGER NOT NULL,
                        place INTEGER NOT NULL,
                        json BLOB NOT NULL,
                        PRIMARY KEY (account, name)
                    ) WITHOUT ROWID;
                    """)
        },
        { db in
            try db.execute(
                sql: """
                    -- The number of unread messages, and the revision at which it was counted; NULL if unknown.
                    ALTER TABLE backscroll_room ADD COLUMN unread INTEGER;
                    ALTER TABLE backscroll_room ADD COLUMN unread_rev INTEGER;
                    """)
        },
    ]

    /// Brings the tables to the present version.
    ///
    /// - Throws: ``BackscrollClientError/storeNewer`` if a later version has written them.
    static func migrate(_ db: Database) throws {
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS backscroll_version (version INTEGER NOT NULL)")
        let version = try Int.fetchOne(db, sql: "SELECT version FROM backscroll_version") ?? 0
        guard version <= migrations.count else {
            throw BackscrollClientError(
                code: BackscrollClientError.storeNewer,
                message: "The store was written by a newer version of this library: it has version \(version), and "
                    + "this one knows \(migrations.count). Update the app, or remove the store's file.")
        }
        guard version < migrations.count else { return }
        for migration in migrations[version...] { try migration(db) }
        try db.execute(sql: "DELETE FROM backscroll_version")
        try db.execute(sql: "INSERT INTO backscroll_version VALUES (?)", arguments: [migrations.count])
    }
}
