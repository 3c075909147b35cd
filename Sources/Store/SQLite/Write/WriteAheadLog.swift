import CSQLite

/// The checkpoints of the write-ahead log, which copy its pages into the database.
///
/// By default SQLite makes a checkpoint inside the commit that reaches the limit, while that commit's senders wait.
/// Here the writer makes it after they have been answered. No other thread does, because the log restarts from its
/// beginning only if nothing is written during the checkpoint.
///
/// Confined to the writer's connection.
final class WriteAheadLog {
    private let limit: Int
    private let busyTimeout: Int32
    /// Number of pages at which the next checkpoint is tried.
    private var next: Int
    // SQLite's hook writes here, on the connection's own thread, until `detach` or the connection's end.
    private let frames: UnsafeMutablePointer<Int32>

    /// Watches the connection's log.
    init(_ db: SQLiteConnection, _ configuration: StoreConfiguration) {
        limit = configuration.checkpointPages
        busyTimeout = Int32(clamping: configuration.busyTimeout)
        next = limit
        frames = .allocate(capacity: 1)
        frames.initialize(to: 0)
        sqlite3_wal_hook(
            db.handle,
            { frames, _, _, count in
                frames!.assumingMemoryBound(to: Int32.self).pointee = count
                return SQLITE_OK
            }, frames)
    }

    deinit {
        frames.deallocate()
    }

    /// Stops watching. Must be called before the value is released.
    func detach(from db: SQLiteConnection) {
        sqlite3_wal_hook(db.handle, nil, nil)
    }

    /// Makes a checkpoint if the log has reached the limit.
    ///
    /// Pages stay in the log while a reader needs their older state. A checkpoint is tried again after another quarter
    /// of the limit. At four times the limit it waits for the readers, whose transactions are short. Only a reader such
    /// as a backup takes longer. The log then has to grow by another quarter of its size before the next wait, so the
    /// waits become rarer.
    ///
    /// - Throws: `SQLiteError`. Nothing is lost: the pages are still in the log.
    func checkpoint(_ db: SQLiteConnection) throws {
        let count = Int(frames.pointee)
        if count < limit { next = limit }
        guard count >= next else { return }
        next = count + (count < limit * 4 ? limit : count) / 4
        guard count >= limit * 4 else {
            try db.checkpoint(SQLITE_CHECKPOINT_PASSIVE)
            return
        }
        // No reader of this process takes longer.
        sqlite3_busy_timeout(db.handle, min(Self.patience, busyTimeout))
        defer { sqlite3_busy_timeout(db.handle, busyTimeout) }
        try db.checkpoint(SQLITE_CHECKPOINT_RESTART)
    }

    /// The longest wait for readers, in milliseconds.
    private static var patience: Int32 { 100 }
}
