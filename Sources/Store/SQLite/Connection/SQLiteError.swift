import CSQLite
import Wire

/// An error of SQLite.
struct SQLiteError: SQLError, Equatable, CustomStringConvertible {
    /// The extended result code.
    let extendedCode: Int32
    /// SQLite's description of the cause.
    let message: String

    /// Creates an error with a result code, which may be an extended one.
    init(_ code: Int32, _ message: String) {
        extendedCode = code
        self.message = message
    }

    /// The latest error of a connection, which has returned `code`.
    init(_ code: Int32, of handle: OpaquePointer?) {
        let described = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
        self.init(code, code == Self.rot ? "a page of the file does not fit its checksum" : described)
    }

    /// The error of a row or page that contradicts others.
    static func damage(_ message: String) -> SQLiteError { SQLiteError(SQLITE_CORRUPT, message) }

    /// The primary result code.
    var code: Int32 { extendedCode & 0xFF }

    var description: String { "SQLite error \(code): \(message)" }

    /// True if a page of the database is damaged.
    var isDamage: Bool { code == SQLITE_CORRUPT || extendedCode == Self.rot }

    var readProblem: Problem { .unreadable(message) }

    /// The extended code `SQLITE_IOERR_DATA`: a page does not fit its checksum.
    private static let rot = SQLITE_IOERR | 32 << 8

    /// True if the disk is full.
    var isFullDisk: Bool { code == SQLITE_FULL }

    /// True if a sync of a file or of its directory has failed; see ``WriterState/failedSync``.
    var isFailedSync: Bool { [SQLITE_IOERR | 4 << 8, SQLITE_IOERR | 5 << 8].contains(extendedCode) }

    /// True if a statement was cancelled.
    var isInterrupt: Bool { code == SQLITE_INTERRUPT }
}
