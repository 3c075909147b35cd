import CSQLite
import Glibc
import SQLiteChecksums

/// The addition of checksums to a database of an older version.
///
/// The database is copied with checksums, and the copy takes its place once it is complete and on the disk. A crash leaves
/// the one or the other.
public struct ChecksumUpgrade: Sendable {
    private let database: DatabaseLocation

    /// The progress: bytes of the copy, of about so many.
    public typealias Progress = Backup.Progress

    /// Prepares the upgrade of a database.
    public init(_ database: DatabaseLocation) {
        self.database = database
    }

    /// Adds the checksums, or those that are missing.
    ///
    /// - Parameters:
    ///   - isCancelled: called repeatedly while the copy is made; returns true to cancel it.
    ///   - progress: called about five times a second.
    /// - Returns: The number of pages that got one; those of the copy if there was need of one.
    /// - Throws: ``StoreError`` if there is no database, a server has it open, or the disk has no room for a copy.
    public func run(
        isCancelled: @escaping () -> Bool = { false }, progress: @escaping (Progress) -> Void = { _ in }
    ) throws(StoreError) -> Int {
        guard case .file(let path) = database else {
            throw .postgres("PostgreSQL has checksums of its own: initdb --data-checksums, or pg_checksums --enable")
        }
        guard access(path, F_OK) == 0 else { throw .missing(path) }
        // Takes the same lock as a server.
        let file = try DatabaseFile(path)
        // Keeps the lock until the database has its place.
        defer { _ = file.path }
        return try file.opening {
            let copy = try TemporaryFile("\(file.location)-checksums-XXXXXX")
            defer { copy.remove() }
            let isCopied = try makeCopy(
                file, copy, Interrupter(isCancelled) { progress(Progress(bytes: copy.size, total: $0)) })
            let complete = isCopied ? copy.path : file.location
            let result = try PageSeals.add(to: complete)
            try sync(complete)
            guard isCopied else { return result.added }
            try publish(copy, as: file)
            return result.pages
        }
    }

    /// Brings the write-ahead log into the database, and makes the copy unless the database has checksums.
    ///
    /// - Returns: True if there is a copy.
    private func makeCopy(_ file: borrowing DatabaseFile, _ copy: TemporaryFile, _ interrupter: Interrupter) throws
        -> Bool
    {
        let connection = try SQLiteDatabase(path: file.location, busyTimeout: 5000)
        // Closing the last connection deletes the log.
        defer { connection.close() }
        return try connection.use { db in
            try Schema.checkForReading(db, path: file.path)
            try db.checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
            if db.hasChecksums { return false }
            try db.requestChecksums()
            let pages = try db.first("PRAGMA page_count") { $0.integer(0) } ?? 0
            let pageBytes = try db.first("PRAGMA page_size") { $0.integer(0) } ?? 0
            do {
                try interrupter.watch(db, total: pages * pageBytes) { try db.run("VACUUM INTO $1", copy.path) }
            } catch let error as SQLiteError where error.isInterrupt {
                throw StoreError.cancelled(file.path)
            } catch let error as SQLiteError where error.isFullDisk {
                throw StoreError.noSpace(file.path)
            }
            return true
        }
    }

    /// Gives a complete copy the owner, the permissions and the name of the database.
    private func publish(_ copy: TemporaryFile, as file: borrowing DatabaseFile) throws {
        // A log that is left belongs to the old file.
        guard access(file.location + "-wal", F_OK) != 0 else {
            throw StoreError.unusable(file.path, reason: "another program has it open")
        }
        // SQLite has deleted the old log, without a sync of the directory. After a power cut it would belong to no database.
        try syncDirectory(ofFile: file.location)
        var status = stat()
        guard stat(file.location, &status) == 0, chown(copy.path, status.st_uid, status.st_gid) == 0,
            chmod(copy.path, status.st_mode & 0o777) == 0, rename(copy.path, file.location) == 0
        else { throw Errno() }
        try syncDirectory(ofFile: file.location)
    }
}
