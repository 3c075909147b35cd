import GRDB

/// What a backup is told by, and what becomes of it when it takes the place of the database.
extension Schema {
    /// Makes a database a backup, which has no epoch but says which one it is of: no server takes it for the history that
    /// went on without it.
    ///
    /// - Returns: `false` when it has no epoch, and is none already.
    static func markAsBackup(_ db: Database) throws -> Bool {
        try db.execute(sql: "UPDATE meta SET key = 'backup_of' WHERE key = 'epoch'")
        return try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'backup_of'") != nil
    }

    /// Gives a backup that has taken the place of the database an epoch of its own: a new one each time that it is
    /// restored. Numbers that clients were told after the backup was made will be given again to other messages.
    static func renewEpoch(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM meta WHERE key = 'backup_of'")
        guard db.changesCount > 0 else { return }
        try db.execute(sql: "INSERT OR REPLACE INTO meta VALUES ('epoch', ?)", arguments: [makeEpoch()])
    }

    /// Makes sure that a database that is only read is one of ours, of this version or older.
    static func checkForReading(_ db: Database, path: String) throws {
        guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == applicationID else {
            throw StoreError.notADatabase(path)
        }
        try checkVersion(db, path: path)
    }

    /// The number of rooms, deleted ones left out, and messages in their places: those up to the last of each room.
    static func counts(_ db: Database) throws -> (rooms: Int64, messages: Int64) {
        // An older version has none that are deleted.
        let hasDeleted = try db.columns(in: "rooms").contains { $0.name == "deleted" }
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT count(*), ifnull(sum(head), 0) FROM (
                    SELECT ifnull((SELECT max(messages.id) FROM messages
                        WHERE messages.id > rooms.id << 36 AND messages.id < (rooms.id + 1) << 36), 0)
                        & \(RowKey.maximumPlace) AS head FROM rooms\(hasDeleted ? " WHERE deleted = 0" : ""))
                """)
        return (row?[0] ?? 0, row?[1] ?? 0)
    }
}
