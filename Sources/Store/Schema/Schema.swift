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
