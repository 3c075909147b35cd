import GRDB
import GRDBSQLite
import Glibc

/// A database that is read from outside, in one snapshot: beside the server that has it open, or without one.
struct VisitedDatabase: Sendable {
    /// Where it is, as it was given: for messages.
    let path: String
    /// The same without links and relative parts.
    let location: String

    /// Finds the file. It is not opened.
    ///
    /// - Throws: ``StoreError`` when there is none that could be read.
    init(_ path: String) throws(StoreError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { throw .missing(path) }
            throw .unreadable(path, reason: describe(errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path) }
        guard faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0, let location = resolvedPath(path) else {
            throw .unreadable(path, reason: describe(errno))
        }
        self.path = path
        self.location = location
    }

    /// Opens a connection.
    ///
    /// - Throws: ``StoreError`` for a database that is not ours or of a newer version, `DatabaseError` for one that cannot
    ///   be read.
    func connect(_ label: String) throws -> DatabaseQueue {
        var settings = Configuration()
        settings.label = label
        settings.busyMode = .timeout(Self.patience)
        // The last connection that is closed takes the write-ahead log away, unless it may only read. So nothing is left
        // where no server runs, and what a dead one has left is neither brought in nor taken away.
        settings.readonly = access(location + "-wal", F_OK) == 0
        let connection = try DatabaseQueue(path: location, configuration: settings)
        try connection.inDatabase { db in
            try checkLog(db)
            try Schema.checkForReading(db, path: path)
        }
        return connection
    }

    /// Refuses a backup with the write-ahead log of another database beside it, as a server does, see
    /// ``DatabaseFile``.
    ///
    /// The header is read through SQLite's own file: to open and close the database again would take away the locks that
    /// this process has on it.
    private func checkLog(_ db: Database) throws {
        var status = stat()
        guard stat(location + "-wal", &status) == 0, status.st_size > 0 else { return }
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let read = file.pointee.pMethods?.pointee.xRead
        else { return }
        var versions: [UInt8] = [0, 0]
        // SQLite's file is open as long as its connection is; two bytes are written to an array of two.
        if read(file, &versions, 2, 18) == SQLITE_OK, versions == [1, 1] { throw StoreError.foreignLog(path) }
    }

    /// The time to wait for another program that has locked the database, in seconds: for one that recovers it,
    /// say.
    private static let patience = 5.0
}
