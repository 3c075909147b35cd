import CSQLite

/// Control over SQLite's memory statistics, which the server does not use.
enum MemoryStatistics {
    /// Turns off SQLite's memory statistics, which saves a mutex for each allocation. Call this before the process
    /// opens its first database; later calls have no effect.
    static func turnOff() {
        _ = isOff
    }

    // A static property is initialized once. Other threads wait, so SQLite is not called concurrently.
    private static let isOff = backscroll_sqlite_stop_counting_memory() == 0
}
