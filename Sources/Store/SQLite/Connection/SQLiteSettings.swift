import CSQLite
import SQLiteChecksums

/// SQLite's settings for the whole process.
enum SQLiteSettings {
    /// Makes the settings, before the process opens its first database. Later calls have no effect.
    static func apply() {
        _ = areApplied
    }

    // A static property is initialized once. Other threads wait, so SQLite is not called concurrently.
    private static let areApplied: Bool = {
        // The server does not use SQLite's memory statistics. Without them each allocation saves a mutex, twice.
        let countsNothing = backscroll_sqlite_stop_counting_memory() == SQLITE_OK
        // The VFS becomes the default. It changes nothing for databases without checksums.
        return backscroll_use_checksums() == SQLITE_OK && countsNothing
    }()
}
