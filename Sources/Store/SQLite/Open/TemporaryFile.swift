import Glibc

/// A database that is being written, under a name of its own until it is complete.
struct TemporaryFile: Sendable {
    /// The path.
    let path: String

    /// Creates an empty file, which only its owner can read. Its name is the template with the last six characters, which
    /// are `XXXXXX`, replaced.
    ///
    /// - Throws: An `Errno`.
    init(_ template: String) throws(Errno) {
        var name = Array(template.utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw Errno() }
        close(descriptor)
        path = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// The size in bytes.
    var size: Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Removes the file. Has no effect once it has another name.
    func remove() {
        unlink(path)
        // SQLite's rollback journal, which exists while it writes.
        unlink(path + "-journal")
    }
}

/// An error number of the system.
struct Errno: Error {
    var number = errno
}

/// Syncs a file or a directory.
///
/// - Throws: An `Errno`.
func sync(_ path: String) throws(Errno) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Errno() }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw Errno() }
}
