import GRDB

/// What there is about rooms beside their messages.
extension Schema {
    /// Adds the migration "v4".
    static func registerRooms(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("v4") { db in
            try db.execute(
                sql: """
                    -- Up to where users have read rooms. A mark never moves back.
                    CREATE TABLE read_marks (
                        user TEXT NOT NULL,
                        room INTEGER NOT NULL,          -- see rooms.id
                        seq INTEGER NOT NULL,
                        PRIMARY KEY (user, room)
                    ) WITHOUT ROWID;
                    """)
        }
    }
}
