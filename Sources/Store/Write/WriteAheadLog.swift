import GRDB
import GRDBSQLite

/// The write-ahead log: how long it is, and when its pages go into the database.
///
/// SQLite by itself does that (a checkpoint) inside the commit that reaches the bound, with that commit's senders
/// waiting. Here it is done when they have been told. It is done by the writer all the same and not beside it, because
/// only a log that nothing is added to meanwhile is brought in whole, and only then does it start anew.
///
/// Confined to the writer's connection.
final class WriteAheadLog {
    private let limit: Int
    private let busyTimeout: Int32
    /// The number of pages that the log is to have for the next try.
    private var next: Int
    // SQLite's hook writes here, on the connection's own thread, until `detach` or the connection's end.
    private let frames: UnsafeMutablePointer<Int32>

    /// Watches the connection's log; its pages are wanted in the database from `checkpointPages` on.
    init(_ db: Database, _ configuration: StoreConfiguration) {
        limit = configuration.checkpointPages
        busyTimeout = Int32(clamping: configuration.busyTimeout)
        next = limit
        frames = .allocate(capacity: 1)
        frames.initialize(to: 0)
        sqlite3_wal_hook(
            db.sqliteConnection,
            { frames, _, _, count in
                frames!.assumingMemoryBound(to: Int32.self).pointee = count
                return SQLITE_OK
            }, frames)
    }

    deinit {
        frames.deallocate()
    }

    /// Watches no more. To be called before the value goes.
    func detach(from db: Database) {
        sqlite3_wal_hook(db.sqliteConnection, nil, nil)
    }

    /// Brings the log's pages into the database if there are many.
    ///
    /// Pages stay while a reader needs an older state of them. They are tried again after another quarter of the limit;
    /// at four times the limit the readers, whose rounds are short, are waited for. Who still reads then takes long, as a
    /// backup does, and is waited for the more seldom the longer it takes.
    ///
    /// - Throws: `DatabaseError`. Nothing is lost: the pages are where they were.
    func checkpoint(_ db: Database) throws {
        let count = Int(frames.pointee)
        if count < limit { next = limit }
        guard count >= next else { return }
        next = count + (count < limit * 4 ? limit : count) / 4
        guard count >= limit * 4 else {
            try db.checkpoint(.passive)
            return
        }
        // Whoever reads for longer is not one of ours.
        sqlite3_busy_timeout(db.sqliteConnection, min(Self.patience, busyTimeout))
        defer { sqlite3_busy_timeout(db.sqliteConnection, busyTimeout) }
        try db.checkpoint(.restart)
    }

    /// The time to wait for readers, in milliseconds.
    private static var patience: Int32 { 100 }
}
