import CSQLite
import SQLiteChecksums

/// SQLite's settings for the whole process.
enum SQLiteSettings {
    /// Makes the settings, before the process opens its first database. Later calls only repeat the result.
    ///
    /// - Throws: `SQLiteError` if pages would be read and written without checksums.
    static func apply() throws(SQLiteError) {
        guard result == SQLITE_OK else { throw SQLiteError(result, of: nil) }
    }

    // A static property is initialized once. Other threads wait, so SQLite is not called concurrently.
    private static let result: Int32 = {
        // The server does not use SQLite's memory statistics. Without them each allocation saves a mutex, twice. It is too
        // late, and does no harm, if something else in the process has opened a database.
        _ = backscroll_sqlite_stop_counting_memory()
        // The VFS becomes the default. It changes nothing for databases without checksums.
        return backscroll_use_checksums()
    }()
}
