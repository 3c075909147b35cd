import Glibc

/// A lock that one process of a machine can hold, on a file made for it.
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
