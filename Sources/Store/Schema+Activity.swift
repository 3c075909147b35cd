import GRDB

/// The schema of the order of users' rooms.
extension Schema {
    /// The key in `meta` of how far memberships of an earlier version are filled in, see
    /// ``ActivityStatements/fill(most:)``; absent when all are.
    static let activityFill = "activity_fill"

    /// Adds the migration "v11". It looks at each membership and writes none, so that a large database is opened soon; a job
    /// fills them in while the server serves.
    static func registerActivity(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("v11") { db in
            try db.execute(
                sql: """
                    -- When the newest message in its place was stored, or else the room was made: milliseconds since 1970;
                    -- the largest number where that is not kept, see ActivityStatements; NULL until it has been filled in.
                    ALTER TABLE members ADD COLUMN activity INTEGER;
                    -- 1: the user has sent to the room, read it, made it or joined it.
                    ALTER TABLE members ADD COLUMN engaged INTEGER NOT NULL DEFAULT 0;

                    CREATE INDEX members_by_activity ON members (user, engaged, activity) WHERE activity IS NOT NULL;

                    -- Whoever adds a row, lists have it.
                    CREATE TRIGGER members_activity AFTER INSERT ON members WHEN new.activity IS NULL BEGIN
                        UPDATE members SET activity = \(ActivityStatements.unknown)
                        WHERE room = new.room AND user = new.user;
                    END;
                    INSERT INTO meta SELECT '\(activityFill)', ':' WHERE EXISTS (SELECT 1 FROM members);
                    INSERT INTO jobs (kind, number, phase, place)
                        SELECT 'activity', (SELECT max(id) FROM rooms), 0, 0 WHERE EXISTS (SELECT 1 FROM members);
                    """)
        }
    }
}
