import GRDB

/// The database's tables: its versions, and checks when it is opened. ``migrator`` makes the tables.
enum Schema {
    /// The number in the file's header that tells our databases from those of other programs: `BkSc`.
    static let applicationID: Int32 = 0x426B_5363

    /// Makes sure that the database is one of ours, of this version or older, or an empty one, which becomes ours.
    static func check(_ db: Database, path: String) throws {
        if try Int32.fetchOne(db, sql: "PRAGMA application_id") != applicationID {
            guard try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0 else {
                throw StoreError.notADatabase(path)
            }
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        }
        try checkVersion(db, path: path)
    }

    /// Makes sure that the database is of this version or older.
    static func checkVersion(_ db: Database, path: String) throws {
        let unknown = try migrator.appliedIdentifiers(db).subtracting(migrator.migrations)
        guard unknown.isEmpty else { throw StoreError.newer(path, migrations: unknown.sorted()) }
    }

    /// The name of the history that the database holds; `nil` when there is none.
    static func epoch(_ db: Database) throws -> String? {
        try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'epoch'")
    }

    /// A random name for a history: 20 letters and digits, 119 bits.
    static func makeEpoch() -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        var generator = SystemRandomNumberGenerator()
        return String((0..<20).map { _ in letters.randomElement(using: &generator)! })
    }
}
