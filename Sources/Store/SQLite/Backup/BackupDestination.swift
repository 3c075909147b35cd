import Glibc

/// The destination of a backup: a path, and a temporary file in its directory until the backup is complete.
struct BackupDestination: Sendable {
    /// The path as given, for messages.
    let path: String
    private let directory: String
    private let location: String
    private let replacing: Bool

    /// Checks the path. Creates nothing.
    ///
    /// - Throws: ``StoreError`` if a backup of `source` cannot be written there.
    init(_ path: String, of source: SourceDatabase, replacing: Bool) throws(StoreError) {
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard name != "", name != ".", name != ".." else { throw .notAFile(path) }
        let given = path.dropLast(name.utf8.count)
        guard let directory = resolvedPath(given.isEmpty ? "." : String(given)) else {
            throw .backupDirectory(given.isEmpty ? "." : String(given), reason: describe(errno))
        }
        guard faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0 else {
            throw .backupDirectory(directory, reason: describe(errno))
        }
        self.path = path
        self.directory = directory
        self.replacing = replacing
        location = directory == "/" ? "/\(name)" : "\(directory)/\(name)"
        try checkDestination(of: source)
    }

    private func checkDestination(of source: SourceDatabase) throws(StoreError) {
        for suffix in Self.suffixes + [BackupMark.suffix] where location == source.location + suffix {
            throw .backupDestination(path, reason: "it belongs to the database \(source.path)")
        }
        // A program that opens the backup would take these files for the backup's own.
        for suffix in Self.suffixes where suffix != ".lock" && access(location + suffix, F_OK) == 0 {
            throw .backupDestination(
                path,
                reason: "\(path)\(suffix) exists: the path is that of a database in use, or of one that was not closed")
        }
        var status = stat()
        guard lstat(location, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: throw .backupDestination(path, reason: "it is a symbolic link")
        default: throw .notAFile(path)
        }
        var own = stat()
        guard stat(source.location, &own) == 0, own.st_ino != status.st_ino || own.st_dev != status.st_dev else {
            throw .backupDestination(path, reason: "it is the database itself")
        }
        guard replacing else { throw .backupDestination(path, reason: "the file exists already") }
    }

    /// The suffixes of the files that SQLite and the server put beside a database.
    private static let suffixes = ["-wal", "-shm", "-journal", ".lock"]

    /// Creates the temporary file of a backup in progress.
    func makeFile() throws(StoreError) -> TemporaryFile {
        do throws(Errno) {
            return try TemporaryFile("\(directory)/.backscroll-backup-XXXXXX")
        } catch {
            throw .backupDirectory(directory, reason: describe(error.number))
        }
    }

    /// Syncs a complete backup, then gives it the destination's name.
    func publish(_ file: TemporaryFile) throws(StoreError) {
        try syncing(file.path)
        if replacing {
            guard rename(file.path, location) == 0 else { throw failure() }
        } else {
            try nameWithoutReplacing(file.path)
        }
        try syncing(directory)
    }

    /// Gives a file the destination's name, unless another file has got that name meanwhile.
    private func nameWithoutReplacing(_ file: String) throws(StoreError) {
        if link(file, location) == 0 {
            unlink(file)
        } else if errno == EEXIST {
            throw .backupDestination(path, reason: "the file exists already")
        } else {
            // The file system has no hard links.
            guard access(location, F_OK) != 0, rename(file, location) == 0 else { throw failure() }
        }
    }

    private func syncing(_ path: String) throws(StoreError) {
        do throws(Errno) {
            try sync(path)
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: Errno = Errno()) -> StoreError {
        error.number == ENOSPC || error.number == EDQUOT
            ? .noSpace(path) : .backupDestination(path, reason: describe(error.number))
    }
}
