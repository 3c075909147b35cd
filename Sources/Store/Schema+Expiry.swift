import GRDB

/// What there is about messages that expire.
extension Schema {
    /// Adds the migration "v6".
    static func registerExpiry(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("v6") { db in
            try db.execute(
                sql: """
                    -- Up to where the messages of a room have expired: none of these is looked at again, see Expiry.
                    CREATE TABLE expired (
                        room INTEGER PRIMARY KEY,       -- see rooms.id
                        seq INTEGER NOT NULL
                    );
                    """)
        }
    }
}
