import CSQLite
import Glibc

/// Writes a write-ahead log that a server has left behind once more, and syncs it.
///
/// After a failed sync Linux drops what was to be written, but still returns it to readers, and later syncs succeed. If the
/// server ended then, SQLite would take commits from the log that are not on the disk, and append to them. A power cut would
/// then lose all of them, also those that were acknowledged. Written again, they reach the disk or the start fails.
enum LogRewrite {
    /// Number of bytes that are written at once.
    private static let piece = 1024 * 1024

    /// Writes the log of a connection again, which must not be in a transaction.
    ///
    /// - Parameter location: The path of the database, without links and relative parts.
    /// - Throws: ``StoreError`` or `SQLiteError`. The log then has the same bytes as before.
    static func rewrite(of db: SQLiteConnection, at location: String) throws {
        // With the lock of SQLite's writers, no other program appends to the log meanwhile.
        try db.transaction(.immediate) { _ in
            // Closing this descriptor releases no locks: SQLite's locks are on the -shm file.
            let file = open(location + "-wal", O_RDWR | O_CLOEXEC)
            guard file >= 0 else { return }
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: piece)
            var offset = 0
            while true {
                let count = pread(file, &bytes, piece, offset)
                if count == 0 { break }
                guard count > 0, pwrite(file, bytes, count, offset) == count else { throw failure(location) }
                offset += count
            }
            guard offset == 0 || fdatasync(file) == 0 else { throw failure(location) }
        }
    }

    private static func failure(_ location: String) -> StoreError {
        .unusable(location, reason: "its write-ahead log cannot be written: \(describe(errno))")
    }
}
