import GRDB

/// The schema of bans.
extension Schema {
    /// Adds the migration "v8".
    static func registerBans(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("v8") { db in
            try db.execute(
                sql: """
                    CREATE TABLE bans (
                        room INTEGER NOT NULL,          -- see rooms.id; 0 for the whole server
                        user TEXT NOT NULL,
                        reads INTEGER NOT NULL,         -- 1: reading and subscribing are banned, too
                        until INTEGER,                  -- milliseconds since 1970; NULL for ever
                        reason TEXT,
                        set_by TEXT NOT NULL,
                        created_at INTEGER NOT NULL,    -- milliseconds since 1970
                        PRIMARY KEY (room, user)
                    ) WITHOUT ROWID;

                    -- Those that have ended are deleted by and by.
                    CREATE INDEX bans_by_end ON bans (until) WHERE until IS NOT NULL;
                    """)
        }
    }
}
