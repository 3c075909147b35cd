import Glibc

/// The file of a database, checked and locked against every other server of this machine.
struct DatabaseFile: ~Copyable {
    /// The path as given, for messages.
    let path: String
    /// The path without links and relative parts, which is opened.
    let location: String
    // The lock is on a file beside the database, because SQLite itself locks the database.
    private let lock: FileLock

    /// Creates the file if needed, and takes the lock that keeps a second server out. Makes the database and the files
    /// beside it readable by their owner only. Leaves the directory's permissions alone.
    init(_ path: String) throws(StoreError) {
        try Self.check(path)
        let location = try Self.locate(path)
        let lock = try Self.takeLock(on: location, calledBy: path)
        // The lock comes first: closing a file releases all locks that the process has on it.
        try Self.checkLog(of: location, calledBy: path)
        Self.keepToOwner(location)
        self.lock = lock
        self.path = path
        self.location = location
    }

    /// Checks an existing file: it must be a regular, writable file. SQLite would report less, or only later.
    private static func check(_ path: String) throws(StoreError) {
        guard !DatabaseLocation.isConnectionString(path) else { throw .connectionString }
        guard !path.isEmpty, !path.hasSuffix("/") else { throw .notAFile(path) }
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return }
            throw .noAccess(path, reason: describe(errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path) }
        // Each hard link would have its own lock and write-ahead log, so two servers could overwrite each other's
        // messages.
        guard status.st_nlink == 1 else {
            throw .unusable(path, reason: "the file has a second name, a hard link; remove it, or copy the file")
        }
        guard faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 else {
            throw .noAccess(path, reason: describe(errno))
        }
    }

    /// Creates the file if needed, and resolves its path. Two paths of one file must resolve to one location; otherwise
    /// two servers could open it.
    private static func locate(_ path: String) throws(StoreError) -> String {
        let directory = directory(of: path)
        var status = stat()
        guard stat(directory, &status) == 0 else {
            // The directory is not created: a mistyped path would start an empty history.
            throw errno == ENOENT ? .noDirectory(directory) : .directory(directory, reason: describe(errno))
        }
        // The slash makes the check fail for anything but a directory.
        guard faccessat(AT_FDCWD, directory + "/", W_OK | X_OK, AT_EACCESS) == 0 else {
            throw .directory(directory, reason: describe(errno))
        }
        if let location = resolvedPath(path) { return location }
        // Creates the file as SQLite would, so that a link to it resolves from now on. Nothing else in this process has
        // the file open, so closing it releases no lock.
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .noAccess(path, reason: describe(errno)) }
        close(file)
        guard let location = resolvedPath(path) else { throw .noAccess(path, reason: describe(errno)) }
        // Otherwise a power cut could leave the write-ahead log without the database.
        try syncDirectory(ofFile: location)
        return location
    }

    /// Refuses a database with the write-ahead log of another one beside it: SQLite would merge that log into the
    /// database. This happens when a backup replaces the database of a server that had crashed.
    ///
    /// A database that uses a log says so in its header (SQLite file format, section 1.3.4); a backup does not. An
    /// empty file with a log beside it means that the database has been lost, and SQLite would delete the log.
    private static func checkLog(of location: String, calledBy path: String) throws(StoreError) {
        var status = stat()
        guard stat(location + "-wal", &status) == 0, status.st_size > 0 else { return }
        let file = open(location, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        var versions: [UInt8] = [0, 0]
        let count = pread(file, &versions, 2, 18)
        if count == 2, versions == [1, 1] { throw .foreignLog(path) }
        if count == 0 { throw .logWithoutDatabase(path) }
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes the files readable by their owner only; earlier versions created them readable by everybody. SQLite gives
    /// new files beside the database the same permissions.
    ///
    /// Files of another user stay as they are, because only their owner can change that.
    private static func keepToOwner(_ location: String) {
        for suffix in ["", "-wal", "-shm", "-journal", ".lock"] {
            var status = stat()
            guard stat(location + suffix, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
            chmod(location + suffix, status.st_mode & 0o700)
        }
    }

    private static func takeLock(on location: String, calledBy path: String) throws(StoreError) -> FileLock {
        do throws(FileLock.Refusal) {
            return try FileLock(location + ".lock")
        } catch {
            switch error {
            case .taken: throw .inUse(path)
            case .noFile(let number): throw .directory(directory(of: location), reason: describe(number))
            case .noLocks(let number): throw .unusable(path, reason: describe(number))
            }
        }
    }
}

/// Returns the path without links; `nil` if nothing is there.
func resolvedPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    // The caller must free the result of realpath.
    defer { free(resolved) }
    return String(cString: resolved)
}

/// Syncs the directory of a file, so that the file's name survives a power cut.
///
/// - Parameter location: The path without links and relative parts.
func syncDirectory(ofFile location: String) throws(StoreError) {
    let directory = location.lastIndex(of: "/").map { String(location[...$0]) } ?? "."
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .directory(directory, reason: describe(errno)) }
    defer { close(descriptor) }
    // Some file systems sync no directories.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw .directory(directory, reason: describe(errno)) }
}

/// Returns the description of an error number.
func describe(_ number: Int32) -> String {
    String(cString: strerror(number))
}

/// A lock on a file of its own, which one process of a machine can hold at a time.
///
/// The kernel releases it when the process ends, even after a crash. The file stays.
struct FileLock: ~Copyable {
    /// The reason why the lock could not be taken.
    enum Refusal: Error {
        /// Another process holds the lock.
        case taken
        /// The file could not be opened; the error number.
        case noFile(Int32)
        /// The file system has no locks; the error number.
        case noLocks(Int32)
    }

    private let descriptor: Int32

    /// Takes the lock. Creates the file if needed.
    init(_ path: String) throws(Refusal) {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .noFile(errno) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            close(file)
            throw number == EWOULDBLOCK ? .taken : .noLocks(number)
        }
        descriptor = file
    }

    deinit {
        // A child process that is just being started shares the open file, so closing it here would not release the
        // lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
