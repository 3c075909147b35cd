import GRDB
import GRDBSQLite
import Glibc

/// Gives the write-ahead log's file its length before there is anything to put into it.
///
/// Where a commit makes the file longer, the sync that it ends with has the file system record that as well, which is one
/// more write to wait for: on ext4 a sync of 8 KiB took 0.39 ms then, and 0.18 ms inside of the file. After the first
/// checkpoint the log starts anew and is written over; so this is for the first messages of each run, which on a server
/// with little to do are those of hours.
///
/// SQLite takes zeros for the end of the log: a frame counts when its checksum is right, and so does the header (SQLite's file
/// format, 4.2).
enum LogReserve {
    /// Writes zeros behind the log of a connection until it has `bytes`, or has taken half of what is free on the disk.
    ///
    /// Nothing depends on it: where there is no room, the log grows as it goes. A disk that it filled would leave SQLite
    /// no room to recover with when some is made.
    static func make(_ bytes: Int, for db: Database) {
        // SQLite's own strings, valid as long as the connection is open.
        guard let name = sqlite3_filename_wal(sqlite3_db_filename(db.sqliteConnection, "main")) else { return }
        // SQLite has no locks on this file, which closing it would take away; they are on the one with the index.
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

    /// The length in bytes that a log of `present` bytes is given on a disk with `free` bytes.
    static func length(wanted: Int, present: Int, free: Int) -> Int {
        min(wanted, present + free / 2)
    }

    /// The number of bytes that the disk of a file has for this process; 0 when that is not known.
    private static func freeBytes(of file: Int32) -> Int {
        var status = statvfs()
        guard fstatvfs(file, &status) == 0 else { return 0 }
        return Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
    }
}
