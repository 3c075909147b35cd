import GRDB
import GRDBSQLite

/// Looks in on a statement that takes long: tells how far it is, and ends it when it is not wanted any more.
final class Interrupter {
    private let isCancelled: () -> Bool
    private let progress: (Int64) -> Void
    private var total: Int64 = 0
    private var next = ContinuousClock.now

    /// - Parameter progress: called with what ``watch(_:total:_:)`` was given as the total.
    init(_ isCancelled: @escaping () -> Bool, progress: @escaping (Int64) -> Void) {
        self.isCancelled = isCancelled
        self.progress = progress
    }

    /// The number of steps of SQLite's machine there are between two looks: some thousand rows.
    private static let steps: Int32 = 10_000
    /// The time between two reports.
    private static let interval = Duration.milliseconds(200)

    /// Looks in on what `body` runs.
    ///
    /// - Throws: what `body` throws: `DatabaseError` `SQLITE_INTERRUPT` when it was ended.
    func watch<R>(_ db: Database, total: Int64, _ body: () throws -> R) rethrows -> R {
        self.total = total
        // SQLite calls it on this thread, while `body` runs, and this object is there as long as its method.
        sqlite3_progress_handler(
            db.sqliteConnection, Self.steps,
            { context in Unmanaged<Interrupter>.fromOpaque(context!).takeUnretainedValue().look() ? 1 : 0 },
            Unmanaged.passUnretained(self).toOpaque())
        defer { sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) }
        return try withExtendedLifetime(self) { try body() }
    }

    private func look() -> Bool {
        if next <= .now {
            next = .now + Self.interval
            progress(total)
        }
        return isCancelled()
    }
}
