import CSQLite
import SQLiteChecksums

/// Checksums of the pages of a file, which the VFS of `SQLiteChecksums` writes and compares.
///
/// A database has them if it was created so: its header says that SQLite leaves 8 bytes of each page alone.
extension SQLiteConnection {
    /// Makes the database have checksums if nothing is in it yet, and copies that `VACUUM INTO` makes in any case.
    ///
    /// Pages of such a copy that SQLite writes before the first page have none yet; see ``PageSeals``.
    func requestChecksums() throws(SQLiteError) {
        var bytes = Int32(CHECKSUM_BYTES)
        try check(sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes))
    }

    /// True if the header says that pages have checksums.
    var hasChecksums: Bool { header().map { $0.reservedBytes == CHECKSUM_BYTES } ?? false }

    /// Reads the header of the file; `nil` if there is none, or if it cannot be read.
    ///
    /// It is read through SQLite's own file handle: closing another descriptor of the same file would release the locks
    /// that this process has on it.
    func header() -> FileHeader? {
        var bytes = [UInt8](repeating: 0, count: FileHeader.bytes)
        return read(&bytes, at: 0) == SQLITE_OK ? FileHeader(bytes) : nil
    }

    /// Reads bytes of the file, which may be older than those in the write-ahead log.
    ///
    /// - Returns: SQLite's result code. `bytes` are then what was read, also if a page does not fit its checksum.
    func read(_ bytes: inout [UInt8], at offset: Int64) -> Int32 {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let read = file.pointee.pMethods?.pointee.xRead
        else { return SQLITE_ERROR }
        // SQLite's file stays open as long as the connection does, and fills at most as many bytes as the array has.
        return read(file, &bytes, Int32(bytes.count), offset)
    }
}

/// The part of the header of a file that the server looks at (SQLite file format, section 1.3).
struct FileHeader {
    /// The length of the header in bytes.
    static let bytes = 100

    /// The size of a page in bytes.
    let pageSize: Int
    /// The number of bytes at the end of each page that SQLite leaves alone.
    let reservedBytes: Int
    /// True if changes go to a write-ahead log.
    let hasLog: Bool

    /// Takes the first ``bytes`` bytes of a file; `nil` if they are not of a database.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.bytes, bytes.starts(with: Array("SQLite format 3\0".utf8)) else { return nil }
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        // The size of 65,536 bytes does not fit, and is written as 1.
        pageSize = size == 1 ? 65_536 : size
        guard pageSize >= 512, pageSize.nonzeroBitCount == 1 else { return nil }
        reservedBytes = Int(bytes[20])
        hasLog = bytes[18] == 2
    }
}
