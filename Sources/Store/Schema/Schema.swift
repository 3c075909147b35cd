import GRDB

/// The version of the tables, and checks when a database is opened. ``migrator`` creates the tables.
enum Schema {
    /// The application id in the file's header, which marks databases of Backscroll: `BkSc`.
    static let applicationID: Int32 = 0x426B_5363

    /// Checks that the database is Backscroll's, of this version or older, or is empty.
    static func check(_ db: Database, path: String) throws {
        if try Int32.fetchOne(db, sql: "PRAGMA application_id") != applicationID {
            guard try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0 else {
                throw StoreError.notADatabase(path)
            }
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        }
        try checkVersion(db, path: path)
    }

    /// Checks that the database has this version or an older one.
    static func checkVersion(_ db: Database, path: String) throws {
        let unknown = try migrator.appliedIdentifiers(db).subtracting(migrator.migrations)
        guard unknown.isEmpty else { throw StoreError.newer(path, migrations: unknown.sorted()) }
    }

    /// Returns the epoch; `nil` if there is none.
    static func epoch(_ db: Database) throws -> String? {
        try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'epoch'")
    }

    /// Returns a random epoch: 20 letters and digits, 119 bits.
    static func makeEpoch() -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        var generator = SystemRandomNumberGenerator()
        return String((0..<20).map { _ in letters.randomElement(using: &generator)! })
    }
}

/// Marking backups, and restoring them.
extension Schema {
    /// Marks a database as a backup: replaces its epoch by the name of the database that it was made from. A server
    /// therefore never takes it for the history that continued without it.
    ///
    /// - Returns: false if the database has no epoch and is not a backup.
    static func markAsBackup(_ db: Database) throws -> Bool {
        try db.execute(sql: "UPDATE meta SET key = 'backup_of' WHERE key = 'epoch'")
        return try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'backup_of'") != nil
    }

    /// Gives a restored backup a new epoch. Each restore gets a different one. Clients that were told a `seq` or `rev`
    /// after the backup was made must not use it with the restored history, which assigns it to another message.
    ///
    /// - Returns: The new epoch; nil if the database is not a restored backup.
    static func renewEpoch(_ db: Database) throws -> String? {
        try db.execute(sql: "DELETE FROM meta WHERE key = 'backup_of'")
        guard db.changesCount > 0 else { return nil }
        let epoch = makeEpoch()
        try db.execute(sql: "INSERT OR REPLACE INTO meta VALUES ('epoch', ?)", arguments: [epoch])
        return epoch
    }

    /// Checks that a database opened for reading is Backscroll's, of this version or older.
    static func checkForReading(_ db: Database, path: String) throws {
        guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == applicationID else {
            throw StoreError.notADatabase(path)
        }
        try checkVersion(db, path: path)
    }

    /// Returns the number of rooms that are not deleted, and of filed messages: the sum of the rooms' highest `seq`.
    static func counts(_ db: Database) throws -> (rooms: Int64, messages: Int64) {
        // An older version has no deleted rooms.
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
