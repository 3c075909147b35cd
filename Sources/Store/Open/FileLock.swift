import Glibc

/// A lock that one process of a machine can have, on a file made for it.
///
/// The kernel gives it back when the process ends, however it ends; the file stays.
struct FileLock: ~Copyable {
    /// The reason why the lock was not had.
    enum Refusal: Error {
        /// Another one has it.
        case taken
        /// The file could not be opened; an error number.
        case noFile(Int32)
        /// The file system does not lock; an error number.
        case noLocks(Int32)
    }

    private let descriptor: Int32

    /// Takes the lock, making the file if need be.
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
        // A child process that is just being started has the file open as well; closing it here would not be enough.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
