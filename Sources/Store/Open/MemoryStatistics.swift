import CSQLite

/// SQLite's count of the memory that it has taken, which nobody asks for.
enum MemoryStatistics {
    /// Has SQLite count no more: a mutex less for each allocation. To be called before the process opens its first database;
    /// afterwards it changes nothing, and neither does a second call.
    static func turnOff() {
        _ = isOff
    }

    // Once, by the first thread that comes, with the others waiting: the call must not be made by two at once.
    private static let isOff = backscroll_sqlite_stop_counting_memory() == 0
}
