import CSQLite
import Glibc

/// Opening connections: one that writes, and several that read.
extension DatabaseFile {
    /// Opens the writing connection, and upgrades the tables to this version.
    ///
    /// Nothing is written to a database of another program or a newer version.
    func connectForWriting(_ configuration: StoreConfiguration) throws(StoreError) -> SQLiteDatabase {
        return try opening {
            let connection = try SQLiteDatabase(path: location, busyTimeout: configuration.busyTimeout)
            try connection.use { db in
                // These take effect before the first write only: an existing database keeps its page size, and has
                // checksums or not.
                try db.execute("PRAGMA page_size = \(StoreConfiguration.pageSize)")
                try db.requestChecksums()
                try Schema.check(db, path: path)
                guard try db.first("PRAGMA journal_mode = WAL", row: { $0.text(0) }) == "wal" else {
                    throw StoreError.unusable(
                        path, reason: "its file system does not support shared memory")
                }
                // SQLite deletes the rollback journal of an older database without a sync of the directory. If a power
                // cut brought it back beside a log that is not empty, SQLite would undo the change of mode, use the log all
                // the same, and leave a header for which the next start takes that log for another database's.
                try syncDirectory(ofFile: location)
                try db.execute(
                    """
                    PRAGMA synchronous = FULL; -- NORMAL syncs at checkpoints only
                    PRAGMA secure_delete = ON; -- what is deleted is gone from the file
                    PRAGMA cache_size = \(-configuration.writerCache / 1024);
                    PRAGMA wal_autocheckpoint = 0; -- see WriteAheadLog
                    PRAGMA journal_size_limit = \(configuration.logLimit);
                    """)
                if let maximumPages = configuration.maximumPages {
                    try db.execute("PRAGMA max_page_count = \(maximumPages)")
                }
            }
            try connection.use { db in
                try LogRewrite.rewrite(of: db, at: location)
                try Schema.migrate(db)
                if let epoch = try db.transaction(.immediate, Schema.renewEpoch) { configuration.onNewEpoch?(epoch) }
            }
            connection.use { db in LogReserve.make(configuration.reservedLog, for: db) }
            if !connection.use({ $0.hasChecksums }) {
                configuration.onMissingChecksums?("backscroll check --add-checksums adds them, while no server runs")
            }
            // SQLite syncs the directory when it creates the log, but ignores a failure.
            try syncDirectory(ofFile: location)
            return connection
        }
    }

    /// Runs `body` with the writing connection of a database, which nobody else can open meanwhile.
    static func withWriter<R>(
        of path: String, _ configuration: StoreConfiguration = StoreConfiguration(),
        _ body: (SQLiteConnection) throws -> R
    ) throws -> R {
        var configuration = configuration
        configuration.reservedLog = 0
        // Takes the same lock as a server.
        let file = try DatabaseFile(path)
        let connection = try file.connectForWriting(configuration)
        defer {
            connection.close()
            // Keeps the lock until the connection is closed.
            _ = file.path
        }
        return try connection.use(body)
    }

    /// Opens a reading connection. The writing connection must be open, because it creates the tables.
    func connectForReading(_ configuration: StoreConfiguration) throws(StoreError) -> SQLiteDatabase {
        return try opening {
            let connection = try SQLiteDatabase(
                path: location, isReadOnly: true, busyTimeout: configuration.busyTimeout)
            // mmap_size is not set: it makes random page reads no faster, and an I/O error on a mapped page ends the
            // process instead of one query.
            try connection.use { db in
                try db.execute("PRAGMA cache_size = \(-configuration.readerCache / 1024)")
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
    if let error = error as? Errno { return .unusable(path, reason: describe(error.number)) }
    guard let error = error as? SQLiteError else { return .unusable(path, reason: "\(error)") }
    let reason = error.message
    if error.isDamage { return .damaged(path, reason: reason) }
    switch error.code {
    case SQLITE_BUSY, SQLITE_LOCKED: return .locked(path)
    case SQLITE_NOTADB: return .notADatabase(path)
    case SQLITE_FULL: return .full(path)
    case SQLITE_READONLY, SQLITE_PERM: return .noAccess(path, reason: reason)
    default: return .unusable(path, reason: reason)
    }
}

/// Allocates the write-ahead log's file before its first use.
///
/// A commit that makes the file longer has to sync the file's metadata too, and takes longer. After the first
/// checkpoint SQLite overwrites the log from its start. So this makes commits faster until the first checkpoint after a
/// start.
///
/// SQLite takes zeros as the end of the log: headers and frames count only with a valid checksum (SQLite file format,
/// section 4.2).
enum LogReserve {
    /// Extends a connection's log with zeros to `bytes` bytes, but by at most half of the disk's free space.
    ///
    /// A failure is harmless: the log then grows as needed. The limit leaves SQLite the room that it needs for a
    /// recovery.
    static func make(_ bytes: Int, for db: SQLiteConnection) {
        // These strings are SQLite's own; they are valid while the connection is open.
        guard let name = sqlite3_filename_wal(sqlite3_db_filename(db.handle, "main")) else { return }
        // Closing this descriptor releases no locks: SQLite's locks are on the -shm file.
        let file = open(name, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: 1024 * 1024)
        var end = Int(lseek(file, 0, SEEK_END))
        let length = length(wanted: bytes, present: end, free: freeBytes(of: file))
        while end >= 0, end < length {
            let written = pwrite(file, zeros, min(zeros.count, length - end), end)
            guard written > 0 else { break }
            end += written
        }
        fdatasync(file)
    }

    /// Returns the length in bytes to give to a log of `present` bytes on a disk with `free` bytes.
    static func length(wanted: Int, present: Int, free: Int) -> Int {
        min(wanted, present + free / 2)
    }

    /// Returns the number of bytes on a file's disk that this process may use; 0 if unknown.
    private static func freeBytes(of file: Int32) -> Int {
        var status = statvfs()
        guard fstatvfs(file, &status) == 0 else { return 0 }
        return Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
    }
}
