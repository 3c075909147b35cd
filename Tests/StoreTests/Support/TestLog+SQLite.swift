@testable import Store

extension TestLog {
    /// Runs `body` with a connection to the database that the store's own statements can use. Only with SQLite.
    func withConnection<R>(_ body: (SQLiteConnection) throws -> R) throws -> R {
        try SQLiteDatabase(path: path).use(body)
    }
}

/// Purges removed words from the index of a database of SQLite, as its log does within an hour.
func purgeWords(at path: String) throws {
    try SQLiteDatabase(path: path, busyTimeout: 30_000).use { db in
        try db.execute("PRAGMA secure_delete = ON")
        try db.purgeWords()
    }
}

/// Makes a database of SQLite as an earlier version would.
func makeDatabase(at path: String, upTo migration: String) throws {
    try SQLiteDatabase(path: path).use { db in
        try Schema.check(db, path: path)
        try Schema.migrate(db, upTo: migration)
    }
}
