@testable import Store

extension TestLog {
    /// Runs `body` with a connection to the database that the store's own statements can use. Only with SQLite.
    func withConnection<R>(_ body: (SQLiteConnection) throws -> R) throws -> R {
        try SQLiteDatabase(path: path).use(body)
    }
}

/// Makes a database of SQLite as an earlier version would.
func makeDatabase(at path: String, upTo migration: String) throws {
    try SQLiteDatabase(path: path).use { db in
        try Schema.check(db, path: path)
        try Schema.migrate(db, upTo: migration)
    }
}
