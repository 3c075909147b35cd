import GRDB
import GRDBSQLite

/// Reports the progress of a long statement, and ends the statement when it is cancelled.
final class Interrupter {
    private let isCancelled: () -> Bool
    private let progress: (Int64) -> Void
    private var total: Int64 = 0
    private var next = ContinuousClock.now

    /// - Parameter progress: called with the total that was passed to ``watch(_:total:_:)``.
    init(_ isCancelled: @escaping () -> Bool, progress: @escaping (Int64) -> Void) {
        self.isCancelled = isCancelled
        self.progress = progress
    }

    /// The number of virtual machine steps between two calls of the progress handler: some thousand rows.
    private static let steps: Int32 = 10_000
    /// The time between two reports.
    private static let interval = Duration.milliseconds(200)

    /// Runs `body`, reporting progress and checking for cancellation while its statements run.
    ///
    /// - Throws: the errors of `body`; after a cancellation, a `DatabaseError` with `SQLITE_INTERRUPT`.
    func watch<R>(_ db: Database, total: Int64, _ body: () throws -> R) rethrows -> R {
        self.total = total
        // SQLite calls the handler on this thread only while `body` runs, and this object outlives its own method.
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
