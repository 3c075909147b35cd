import GRDB
import GRDBSQLite
import Glibc

/// Allocates the write-ahead log's file before its first use.
///
/// A commit that makes the file longer has to sync the file's metadata too, which takes about twice as long. After the
/// first checkpoint SQLite overwrites the log from its start. So this makes commits faster until the first
/// checkpoint after a start.
///
/// SQLite takes zeros as the end of the log: headers and frames count only with a valid checksum (SQLite file format,
/// section 4.2).
enum LogReserve {
    /// Extends a connection's log with zeros to `bytes`, or by half of the free space of the disk at most.
    ///
    /// A failure is harmless: the log then grows as needed. The limit leaves SQLite the room that it needs for a
    /// recovery.
    static func make(_ bytes: Int, for db: Database) {
        // These strings are SQLite's own; they are valid while the connection is open.
        guard let name = sqlite3_filename_wal(sqlite3_db_filename(db.sqliteConnection, "main")) else { return }
        // Closing this descriptor releases no locks: SQLite's locks are on the -shm file.
        let file = open(name, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: 1024 * 1024)
        var end = Int(lseek(file, 0, SEEK_END))
        let length = length(wanted: bytes, present: end, free: freeBytes(of: file))
        while end >= 0, end < length {
            let written = pwrite(file, zeros, min(zeros.count, length - end), end)
            guard written > 0 else { break }
            end += written
        }
        fdatasync(file)
    }

    /// Returns the length in bytes to give to a log of `present` bytes on a disk with `free` bytes.
    static func length(wanted: Int, present: Int, free: Int) -> Int {
        min(wanted, present + free / 2)
    }

    /// Returns the number of bytes on a file's disk that this process may use; 0 if unknown.
    private static func freeBytes(of file: Int32) -> Int {
        var status = statvfs()
        guard fstatvfs(file, &status) == 0 else { return 0 }
        return Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
    }
}
