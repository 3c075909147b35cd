import CSQLite
import Glibc
import SQLiteChecksums

/// Gives the pages of a database of an older version checksums.
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
        let copy = try TemporaryFile(replacing: file)
        defer { copy.remove() }
        let isCopied = try file.opening {
            try makeCopy(file, copy, Interrupter(isCancelled) { progress(Progress(bytes: copy.size, total: $0)) })
        }
        let result = try copy.seal(isCopied ? copy.path : file.location)
        guard isCopied else { return result.added }
        try copy.publish()
        return result.pages
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

    /// The copy that takes the place of a database.
    private struct TemporaryFile {
        let path: String
        private let location: String
        private let name: String

        /// Creates an empty file beside the database, with the owner and the permissions of that.
        init(replacing file: borrowing DatabaseFile) throws(StoreError) {
            name = file.path
            location = file.location
            var template = Array("\(location)-checksums-XXXXXX".utf8CString)
            let descriptor = mkstemp(&template)
            guard descriptor >= 0 else { throw .noAccess(name, reason: describe(errno)) }
            defer { close(descriptor) }
            path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
            var status = stat()
            guard stat(location, &status) == 0, fchown(descriptor, status.st_uid, status.st_gid) == 0,
                fchmod(descriptor, status.st_mode & 0o777) == 0
            else {
                unlink(path)
                throw .noAccess(name, reason: describe(errno))
            }
        }

        var size: Int64 {
            var status = stat()
            return stat(path, &status) == 0 ? Int64(status.st_size) : 0
        }

        /// Adds the checksums that the pages of a file lack, and syncs it.
        func seal(_ path: String) throws(StoreError) -> PageSeals.Result {
            do throws(PageSeals.Errno) {
                let result = try PageSeals.add(to: path)
                let descriptor = open(path, O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0 else { throw PageSeals.Errno() }
                defer { close(descriptor) }
                guard fsync(descriptor) == 0 else { throw PageSeals.Errno() }
                return result
            } catch {
                throw .unusable(name, reason: "its pages get no checksums: \(describe(error.number))")
            }
        }

        /// Gives the file the name of the database.
        func publish() throws(StoreError) {
            // A log that is left belongs to the old file.
            guard access(location + "-wal", F_OK) != 0 else {
                throw .unusable(name, reason: "another program has it open")
            }
            guard rename(path, location) == 0 else { throw .unusable(name, reason: describe(errno)) }
            try syncDirectory(ofFile: location)
        }

        /// Removes the file, unless it has the name of the database.
        func remove() {
            unlink(path)
            // SQLite's rollback journal, which exists while it writes.
            unlink(path + "-journal")
        }
    }
}
