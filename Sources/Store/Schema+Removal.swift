import GRDB

/// The schema of removed rooms, and of work that is done in parts.
extension Schema {
    /// Adds the migration "v7".
    static func registerRemoval(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("v7") { db in
            try db.execute(
                sql: """
                    ALTER TABLE rooms ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;    -- 1: only its name is left

                    CREATE INDEX read_marks_by_room ON read_marks (room);

                    -- Work that is done in parts, see Job. It is deleted when it is done.
                    CREATE TABLE jobs (
                        id INTEGER PRIMARY KEY,
                        kind TEXT NOT NULL,             -- see Job.Kind
                        number INTEGER NOT NULL,        -- what it is about
                        user TEXT,                      -- whom it is about
                        phase INTEGER NOT NULL,         -- how far it has come
                        place INTEGER NOT NULL
                    );
                    """)
        }
    }
}
