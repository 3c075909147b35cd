/// The version of the tables, and checks when a database is opened. ``migrate(_:upTo:)`` creates the tables.
enum Schema {
    /// The application id in the file's header, which marks databases of Backscroll: `BkSc`.
    static let applicationID: Int32 = 0x426B_5363

    /// True if the database belongs to Backscroll.
    private static func isMarked(_ db: SQLiteConnection) throws -> Bool {
        try db.first("PRAGMA application_id") { $0.integer(0) } == Int64(applicationID)
    }

    /// Checks that the database is Backscroll's, of this version or older, or is empty.
    static func check(_ db: SQLiteConnection, path: String) throws {
        if try !isMarked(db) {
            guard try !db.has("SELECT 1 FROM sqlite_schema") else {
                throw StoreError.notADatabase(path)
            }
            try db.execute("PRAGMA application_id = \(applicationID)")
        }
        try checkVersion(db, path: path)
    }

    /// Checks that the database has this version or an older one.
    static func checkVersion(_ db: SQLiteConnection, path: String) throws {
        let unknown = try identifiers(db).subtracting(migrations.map(\.name))
        guard unknown.isEmpty else { throw StoreError.newer(path, migrations: unknown.sorted()) }
    }

    /// Returns the epoch; `nil` if there is none.
    static func epoch(_ db: SQLiteConnection) throws -> String? {
        try db.first("SELECT value FROM meta WHERE key = 'epoch'") { $0.text(0) }
    }
}

/// Applying migrations.
extension Schema {
    /// A step from one version of the tables to the next.
    struct Migration {
        let name: String
        let apply: (SQLiteConnection) throws -> Void
    }

    /// Applies the migrations that the database lacks, each in a transaction.
    ///
    /// - Parameter last: The last one to apply; `nil` for all.
    static func migrate(_ db: SQLiteConnection, upTo last: String? = nil) throws {
        // The name of the table is that of the library which first applied them.
        try db.execute("CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        let known = try identifiers(db)
        for migration in migrations {
            if !known.contains(migration.name) {
                try db.transaction(.immediate) { db in
                    try migration.apply(db)
                    try db.run("INSERT INTO grdb_migrations VALUES ($1)", migration.name)
                }
            }
            if migration.name == last { return }
        }
    }

    /// Returns the names of the known migrations that were applied, oldest first.
    static func applied(_ db: SQLiteConnection) throws -> [String] {
        let identifiers = try identifiers(db)
        return migrations.map(\.name).filter(identifiers.contains)
    }

    /// True if the database has this version.
    static func isCurrent(_ db: SQLiteConnection) throws -> Bool {
        try applied(db).count == migrations.count
    }

    /// Returns the names of all migrations that were applied, also of a newer version's.
    private static func identifiers(_ db: SQLiteConnection) throws -> Set<String> {
        try db.hasTable("grdb_migrations")
            ? Set(try db.all("SELECT identifier FROM grdb_migrations") { $0.text(0) }) : []
    }
}

/// Marking backups, and restoring them.
extension Schema {
    /// Marks a database as a backup: replaces its epoch by the name of the database that it was made from. A server
    /// therefore never takes it for the history that continued without it.
    ///
    /// - Returns: false if the database has no epoch and is not a backup.
    static func markAsBackup(_ db: SQLiteConnection) throws -> Bool {
        try db.execute("UPDATE meta SET key = 'backup_of' WHERE key = 'epoch'")
        return try db.has("SELECT 1 FROM meta WHERE key = 'backup_of'")
    }

    /// Gives a restored backup a new epoch. Each restore gets a different one. Clients that were told a `seq` or `rev`
    /// after the backup was made must not use it with the restored history, which assigns it to another message.
    ///
    /// - Returns: The new epoch; nil if the database is not a restored backup.
    static func renewEpoch(_ db: SQLiteConnection) throws -> String? {
        guard try db.runCounting("DELETE FROM meta WHERE key = 'backup_of'") > 0 else {
            return nil
        }
        let epoch = makeRandomName()
        try db.run("INSERT OR REPLACE INTO meta VALUES ('epoch', $1)", epoch)
        return epoch
    }

    /// Checks that a database opened for reading is Backscroll's, of this version or older.
    static func checkForReading(_ db: SQLiteConnection, path: String) throws {
        guard try isMarked(db) else {
            throw StoreError.notADatabase(path)
        }
        try checkVersion(db, path: path)
    }

    /// Returns the number of rooms that are not deleted, and of filed messages: the sum of the rooms' highest `seq`.
    static func counts(_ db: SQLiteConnection) throws -> (rooms: Int64, messages: Int64) {
        // An older version has no deleted rooms.
        let hasDeleted =
            try db.has("SELECT 1 FROM pragma_table_info('rooms') WHERE name = 'deleted'")
        return try db.first(
            """
            SELECT count(*), ifnull(sum(head), 0) FROM (
                SELECT ifnull((SELECT max(messages.id) FROM messages
                    WHERE \(StoredTable.isMessage("messages.id", of: "rooms.id"))), 0)
                    & \(RowKey.maximumOrdinal) AS head FROM rooms\(hasDeleted ? " WHERE deleted = 0" : ""))
            """
        ) { ($0.integer(0), $0.integer(1)) } ?? (0, 0)
    }
}
