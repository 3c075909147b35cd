import Glibc

/// The space that a log takes, and the time of its last backup. A value that is not known is `nil`.
public struct StorageSizes: Sendable, Hashable {
    /// The size of the database in bytes.
    public var databaseBytes: Int64?
    /// The size of the write-ahead log in bytes.
    public var logBytes: Int64?
    /// The bytes on the database's disk that the process may still use.
    public var freeBytes: Int64?
    /// The time of the last complete backup, in seconds since 1970.
    public var lastBackup: Double?

    /// Creates a value in which nothing is known.
    init() {}

    /// Looks at the files of the SQLite database at `location`.
    init(location: String) {
        databaseBytes = Self.status(location).map { Int64($0.st_size) }
        logBytes = Self.status(location + "-wal").map { Int64($0.st_size) }
        lastBackup = Self.status(location + BackupMark.suffix).map {
            Double($0.st_mtim.tv_sec) + Double($0.st_mtim.tv_nsec) / 1e9
        }
        var disk = statvfs()
        guard statvfs(location, &disk) == 0 else { return }
        freeBytes = Int64(
            clamping: UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize)).partialValue)
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}

/// An empty file beside a database, which is as old as the database's last backup. The server reports its age, although
/// backups are made by other processes, and may be stored anywhere.
enum BackupMark {
    /// The suffix that the path of the database gets.
    static let suffix = ".last-backup"

    /// Sets the mark to the present. A backup is complete without it, so failures have no effect.
    static func set(beside location: String) {
        // A new file replaces the old one, because only the owner of a file may change its time, and another user may
        // have made the last backup.
        var template = Array("\(location)\(suffix)-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        guard file >= 0 else { return }
        // The server's user must see the time, which needs no permission to read the file.
        close(file)
        let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        if rename(path, location + suffix) != 0 { unlink(path) }
    }
}
