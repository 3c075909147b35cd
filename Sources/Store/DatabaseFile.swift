import Glibc

/// The place of a database: found, checked, and held against every other server of this machine.
struct DatabaseFile: ~Copyable {
    /// Where the database is, as it was given: for messages.
    let path: String
    /// The same without links and relative parts: what is opened.
    let location: String
    // On a file beside the database, not on the database, whose locks are SQLite's own.
    private let lock: FileLock

    /// Makes the file's directory if need be, and takes the lock that a second server would want.
    init(_ path: String) throws(StoreError) {
        try Self.check(path)
        let location = try Self.locate(path)
        lock = try Self.takeLock(on: location, calledBy: path)
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

    /// Two names of one file must come to one location, or two servers could have it open.
    private static func locate(_ path: String) throws(StoreError) -> String {
        let directory = directory(of: path)
        try makeDirectory(directory)
        // With the slash a file is none.
        guard faccessat(AT_FDCWD, directory + "/", W_OK | X_OK, AT_EACCESS) == 0, let parent = resolve(directory) else {
            throw .directory(directory, reason: describe(errno))
        }
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        return resolve(path) ?? "\(parent)/\(name)"
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func makeDirectory(_ path: String) throws(StoreError) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        if errno == ENOENT, path != "." {
            try makeDirectory(directory(of: path))
            if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        }
        throw .directory(path, reason: describe(errno))
    }

    /// The path without links; `nil` when there is nothing there.
    private static func resolve(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        // realpath has allocated it for the caller to free.
        defer { free(resolved) }
        return String(cString: resolved)
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

/// What an error number means.
private func describe(_ number: Int32) -> String {
    String(cString: strerror(number))
}
