import GRDB

/// Opening connections: one that writes, and several that read.
extension DatabaseFile {
    /// Opens the writing connection, and upgrades the tables to this version.
    ///
    /// Nothing is written to a database of another program or a newer version.
    func connectForWriting(_ configuration: StoreConfiguration) throws(StoreError) -> DatabaseQueue {
        var settings = Configuration()
        settings.label = "backscroll.writer"
        settings.busyMode = .timeout(Double(configuration.busyTimeout) / 1000)
        return try opening {
            let connection = try DatabaseQueue(path: location, configuration: settings)
            try connection.inDatabase { db in
                // Takes effect before the first write only: an existing database keeps its page size.
                try db.execute(sql: "PRAGMA page_size = \(StoreConfiguration.pageSize)")
                try Schema.check(db, path: path)
                // GRDB's own WAL setup uses synchronous = NORMAL, which syncs at checkpoints only. That could lose
                // acknowledged messages.
                guard try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal" else {
                    throw StoreError.unusable(
                        path, reason: "its file system has no memory that connections could share")
                }
                try db.execute(
                    sql: """
                        PRAGMA synchronous = FULL;
                        PRAGMA secure_delete = ON; -- what is deleted is gone from the file
                        PRAGMA cache_size = \(-configuration.writerCache / 1024);
                        PRAGMA wal_autocheckpoint = 0; -- see WriteAheadLog
                        PRAGMA journal_size_limit = \(configuration.logLimit);
                        """)
                if let maximumPages = configuration.maximumPages {
                    try db.execute(sql: "PRAGMA max_page_count = \(maximumPages)")
                }
            }
            try Schema.migrator.migrate(connection)
            try connection.write(Schema.renewEpoch)
            connection.inDatabase { db in LogReserve.make(configuration.reservedLog, for: db) }
            return connection
        }
    }

    /// Opens a reading connection. The writing connection must be open, because it creates the tables.
    func connectForReading(_ configuration: StoreConfiguration) throws(StoreError) -> DatabaseQueue {
        var settings = Configuration()
        settings.label = "backscroll.reader"
        settings.readonly = true
        settings.busyMode = .timeout(Double(configuration.busyTimeout) / 1000)
        return try opening {
            let connection = try DatabaseQueue(path: location, configuration: settings)
            // mmap_size is not set: it makes random page reads no faster, and an I/O error on a mapped page ends the
            // process instead of one query.
            try connection.inDatabase { db in
                try db.execute(sql: "PRAGMA cache_size = \(-configuration.readerCache / 1024)")
            }
            return connection
        }
    }

    /// Runs `body` to open the database, and turns its errors into ``StoreError``.
    func opening<R>(_ body: () throws -> R) throws(StoreError) -> R {
        do {
            return try body()
        } catch {
            throw named(path, error)
        }
    }
}

extension StoreConfiguration {
    /// The size in bytes to which SQLite truncates a longer write-ahead log: its pages, each with a frame header of 24
    /// bytes (SQLite file format, section 4.1).
    fileprivate var logLimit: Int { max(reservedLog, checkpointPages * (Self.pageSize + 24)) }
}

/// Describes an error of the database at `path` for the operator.
func named(_ path: String, _ error: any Error) -> StoreError {
    if let error = error as? StoreError { return error }
    guard let error = error as? DatabaseError else { return .unusable(path, reason: "\(error)") }
    let reason = error.message ?? "error \(error.extendedResultCode.rawValue)"
    switch error.resultCode {
    case .SQLITE_BUSY, .SQLITE_LOCKED: return .locked(path)
    case .SQLITE_NOTADB: return .notADatabase(path)
    case .SQLITE_CORRUPT: return .damaged(path, reason: reason)
    case .SQLITE_FULL: return .full(path)
    case .SQLITE_READONLY, .SQLITE_PERM: return .noAccess(path, reason: reason)
    default: return .unusable(path, reason: reason)
    }
}
