import GRDB

/// The schema of the totals that admins see of rooms.
extension Schema {
    /// Adds the migration "v10".
    static func registerTotals(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("v10") { db in
            try db.execute(
                sql: """
                    ALTER TABLE rooms ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;  -- of the bodies among messages
                    ALTER TABLE rooms ADD COLUMN active_at INTEGER;     -- created_at of its last one; NULL if none

                    UPDATE rooms SET (bytes, active_at) = (SELECT ifnull(sum(length(body)), 0), max(created_at)
                        FROM messages WHERE messages.id > rooms.id << 36 AND messages.id < (rooms.id + 1) << 36);

                    CREATE INDEX rooms_by_activity ON rooms (ifnull(ifnull(active_at, created_at), 0) DESC, name)
                        WHERE deleted = 0;
                    """)
        }
    }
}
