import CSQLite
import Glibc

/// A database that is read in one snapshot, whether or not a server has it open.
struct SourceDatabase: Sendable {
    /// The path as given, for messages.
    let path: String
    /// The path without links and relative parts.
    let location: String

    /// Finds the file. Does not open it.
    ///
    /// - Throws: ``StoreError`` if there is no readable file.
    init(_ path: String) throws(StoreError) {
        guard !DatabaseLocation.isConnectionString(path) else { throw .connectionString }
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
    /// - Throws: ``StoreError`` if the database belongs to another program or a newer version; `SQLiteError` if it
    ///   cannot be read.
    func connect() throws -> SQLiteDatabase {
        let connection = try open()
        try connection.use { db in
            try checkLog(db)
            try Schema.checkForReading(db, path: path)
        }
        return connection
    }

    /// Runs `body` with a connection to whatever is in the file.
    func withFile<R>(_ body: (SQLiteConnection) throws -> R) throws -> R {
        let connection = try open()
        defer { connection.close() }
        return try connection.use(body)
    }

    private func open() throws -> SQLiteDatabase {
        // Closing the last connection checkpoints and deletes the write-ahead log, unless that connection is read-only.
        // So the connection is read-only if there is a log: a log that a dead server has left is kept as it is.
        try SQLiteDatabase(
            path: location, isReadOnly: access(location + "-wal", F_OK) == 0, busyTimeout: Self.patience)
    }

    /// Refuses a backup that has the write-ahead log of another database beside it. A server does the same, see
    /// ``DatabaseFile``.
    private func checkLog(_ db: SQLiteConnection) throws {
        var status = stat()
        guard stat(location + "-wal", &status) == 0, status.st_size > 0 else { return }
        if let header = db.header(), !header.hasLog { throw StoreError.foreignLog(path) }
    }

    /// The time in milliseconds to wait for another program that has locked the database, for instance to recover it.
    private static let patience = 5000
}
