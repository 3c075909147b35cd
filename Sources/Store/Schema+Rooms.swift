import GRDB

/// What there is about rooms beside their messages.
extension Schema {
    /// Adds the migration "v4".
    static func registerRooms(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("v4") { db in
            try db.execute(
                sql: """
                    ALTER TABLE rooms ADD COLUMN private INTEGER NOT NULL DEFAULT 0;    -- 1: for members only
                    ALTER TABLE rooms ADD COLUMN title TEXT;

                    -- Up to where users have read rooms. A mark never moves back.
                    CREATE TABLE read_marks (
                        user TEXT NOT NULL,
                        room INTEGER NOT NULL,          -- see rooms.id
                        seq INTEGER NOT NULL,
                        PRIMARY KEY (user, room)
                    ) WITHOUT ROWID;

                    CREATE TABLE members (
                        room INTEGER NOT NULL,          -- see rooms.id
                        user TEXT NOT NULL,
                        owner INTEGER NOT NULL,         -- 1: may change the room and its members
                        PRIMARY KEY (room, user)
                    ) WITHOUT ROWID;

                    CREATE INDEX members_by_user ON members (user);

                    -- Whether an owner is the last one must not take longer in a large room.
                    CREATE INDEX members_by_owner ON members (room) WHERE owner = 1;

                    -- Rooms are their first sender's, those of before too.
                    INSERT INTO members (room, user, owner)
                        SELECT rooms.id, sender, 1 FROM rooms JOIN messages ON messages.id = (rooms.id << 36) + 1;
                    """)
        }
    }

    /// Adds the migration "v5".
    static func registerRoomTimes(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("v5") { db in
            try db.execute(
                sql: """
                    -- Milliseconds since 1970: where a room without messages stands among others. NULL if made before v5.
                    ALTER TABLE rooms ADD COLUMN created_at INTEGER;
                    """)
        }
    }
}
