import GRDB

/// The schema of erasures.
extension Schema {
    /// Adds the migration "v9".
    static func registerErasure(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("v9") { db in
            try db.execute(
                sql: """
                    -- Users who were erased, or are about to be.
                    CREATE TABLE erasures (
                        user TEXT PRIMARY KEY NOT NULL,
                        erased INTEGER NOT NULL,        -- 1: nothing is left
                        messages INTEGER NOT NULL       -- how many have become tombstones
                    ) WITHOUT ROWID;

                    -- Rooms in which users have done something while they were being erased: what is behind these places
                    -- is that of new users with the same names.
                    CREATE TABLE returns (
                        user TEXT NOT NULL,
                        room INTEGER NOT NULL,          -- see rooms.id
                        seq INTEGER NOT NULL,
                        rev INTEGER NOT NULL,
                        PRIMARY KEY (user, room)
                    ) WITHOUT ROWID;
                    """)
        }
    }
}
