import GRDB

/// Connections to the database: one that writes, and those that read.
extension DatabaseFile {
    /// Opens the connection that writes, and brings the tables up to this version.
    ///
    /// Nothing is written to a database that is not ours, or newer than we are.
    func connectForWriting(_ configuration: StoreConfiguration) throws(StoreError) -> DatabaseQueue {
        var settings = Configuration()
        settings.label = "backscroll.writer"
        settings.busyMode = .timeout(Double(configuration.busyTimeout) / 1000)
        return try opening {
            let connection = try DatabaseQueue(path: location, configuration: settings)
            try connection.inDatabase { db in
                // Before anything is written; a database that is there keeps its own.
                try db.execute(sql: "PRAGMA page_size = \(StoreConfiguration.pageSize)")
                try Schema.check(db, path: path)
                // Not GRDB's way to WAL, which ends with synchronous = NORMAL: that syncs at checkpoints only, and would
                // lose what a sender has been told is stored.
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

    /// Opens a connection that reads. The one that writes must be open: it has made the tables.
    func connectForReading(_ configuration: StoreConfiguration) throws(StoreError) -> DatabaseQueue {
        var settings = Configuration()
        settings.label = "backscroll.reader"
        settings.readonly = true
        settings.busyMode = .timeout(Double(configuration.busyTimeout) / 1000)
        return try opening {
            let connection = try DatabaseQueue(path: location, configuration: settings)
            // No mmap_size: pages are read no faster with it (11 µs each at random places of 1,000,000 messages, both
            // ways), and a disk that fails would end the process and not one query.
            try connection.inDatabase { db in
                try db.execute(sql: "PRAGMA cache_size = \(-configuration.readerCache / 1024)")
            }
            return connection
        }
    }

    /// Does what `body` does to open the database, and says what went wrong in words for who started the server.
    func opening<R>(_ body: () throws -> R) throws(StoreError) -> R {
        do {
            return try body()
        } catch {
            throw named(path, error)
        }
    }
}

extension StoreConfiguration {
    /// To how many bytes the write-ahead log is cut when it has become longer: its pages, each with 24 bytes in front of it
    /// (SQLite's file format, 4.1).
    fileprivate var logLimit: Int { max(reservedLog, checkpointPages * (Self.pageSize + 24)) }
}

/// What went wrong with the database at `path`, for people.
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
