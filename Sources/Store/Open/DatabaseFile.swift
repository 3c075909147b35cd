import Glibc

/// The place of a database: found, checked, and held against every other server of this machine.
struct DatabaseFile: ~Copyable {
    /// Where the database is, as it was given: for messages.
    let path: String
    /// The same without links and relative parts: what is opened.
    let location: String
    // On a file beside the database, not on the database, whose locks are SQLite's own.
    private let lock: FileLock

    /// Makes the file if need be, and takes the lock that a second server would want. The file and those beside it are for
    /// their owner only from then on; the directory and its rights are the operator's.
    init(_ path: String) throws(StoreError) {
        MemoryStatistics.turnOff()
        try Self.check(path)
        let location = try Self.locate(path)
        let lock = try Self.takeLock(on: location, calledBy: path)
        // Not before: to close a file takes away all locks that the process has on it.
        try Self.checkLog(of: location, calledBy: path)
        Self.keepToOwner(location)
        self.lock = lock
        self.path = path
        self.location = location
    }

    /// Refuses what is there already when it is no file, or not ours to write: SQLite would say less, or only later.
    private static func check(_ path: String) throws(StoreError) {
        guard !path.isEmpty, !path.hasSuffix("/") else { throw .notAFile(path) }
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return }
            throw .noAccess(path, reason: describe(errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path) }
        // Each name would have a lock and a write-ahead log of its own, and what one server has stored the other loses.
        guard status.st_nlink == 1 else {
            throw .unusable(path, reason: "the file has a second name, a hard link; remove it, or copy the file")
        }
        guard faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 else {
            throw .noAccess(path, reason: describe(errno))
        }
    }

    /// Makes the file if need be. Two names of one file must come to one location, or two servers
    /// could have it open.
    private static func locate(_ path: String) throws(StoreError) -> String {
        let directory = directory(of: path)
        var status = stat()
        guard stat(directory, &status) == 0 else {
            // Not made: a mistyped path would begin an empty history.
            throw errno == ENOENT ? .noDirectory(directory) : .directory(directory, reason: describe(errno))
        }
        // With the slash a file is none.
        guard faccessat(AT_FDCWD, directory + "/", W_OK | X_OK, AT_EACCESS) == 0 else {
            throw .directory(directory, reason: describe(errno))
        }
        if let location = resolvedPath(path) { return location }
        // There is no file. It is made here, as SQLite would make it: a link to it has its location from now on. Nobody in this
        // process has it open, so that to close it takes away no lock.
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .noAccess(path, reason: describe(errno)) }
        close(file)
        guard let location = resolvedPath(path) else { throw .noAccess(path, reason: describe(errno)) }
        return location
    }

    /// Refuses a database with the write-ahead log of another one beside it, which SQLite would bring into it: a backup that
    /// was put in the place of a database whose server had died.
    ///
    /// A database that has a log of its own says in its header that it does (SQLite's file format, 1.3.4). An empty file has
    /// none: with a log beside it, the database has been lost, and SQLite would delete the log.
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

    /// Takes the rights that others have to the files away, which earlier versions made for everybody to read. SQLite gives
    /// new files beside the database the same rights as the database.
    ///
    /// Files of another user stay as they are: only their owner can change that.
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

/// The path without links; `nil` when there is nothing there.
func resolvedPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    // realpath has allocated it for the caller to free.
    defer { free(resolved) }
    return String(cString: resolved)
}

/// What an error number means.
func describe(_ number: Int32) -> String {
    String(cString: strerror(number))
}
