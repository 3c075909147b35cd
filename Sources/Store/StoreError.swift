/// The reason why a database cannot be opened.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// A description of the problem and its remedy, for the operator.
    public let description: String

    static func inUse(_ path: String) -> StoreError {
        StoreError(description: "\(path) is in use by another server")
    }

    static func locked(_ path: String) -> StoreError {
        StoreError(description: "\(path) is locked by another program")
    }

    static func newer(_ path: String, migrations: [String]) -> StoreError {
        StoreError(
            description: "\(path) was written by a newer version of Backscroll, with "
                + "\(migrations.joined(separator: ", ")), which this version does not know")
    }

    /// There is a directory or device in the place of the file.
    static func notAFile(_ path: String) -> StoreError {
        StoreError(description: "\(path) is not a file: give the path of a file, which need not exist")
    }

    /// The path is a connection string. It is not repeated, because it may have a password.
    static var connectionString: StoreError {
        StoreError(
            description:
                "the database is given as a connection string: write postgres://USER@HOST/NAME for a database in "
                + "PostgreSQL, or put ./ before the path of a file")
    }

    /// The file is not a database, or it belongs to another program.
    static func notADatabase(_ path: String) -> StoreError {
        StoreError(description: "\(path) is not a database of Backscroll")
    }

    static func damaged(_ path: String, reason: String) -> StoreError {
        StoreError(description: "\(path) is damaged and must be restored from a backup: \(reason)")
    }

    static func noAccess(_ path: String, reason: String) -> StoreError {
        StoreError(description: "\(path) cannot be read and written: \(reason)")
    }

    static func noDirectory(_ path: String) -> StoreError {
        StoreError(
            description: "the directory \(path) does not exist: create it, or choose another path for the database")
    }

    static func foreignLog(_ path: String) -> StoreError {
        .unusable(path, reason: "\(path)-wal belongs to another database; remove it")
    }

    static func logWithoutDatabase(_ path: String) -> StoreError {
        .unusable(
            path, reason: "\(path)-wal exists without its database; restore that from a backup, or remove the log")
    }

    /// The directory of the database cannot be used or written.
    static func directory(_ path: String, reason: String) -> StoreError {
        StoreError(description: "cannot create the database's files in the directory \(path): \(reason)")
    }

    static func full(_ path: String) -> StoreError {
        StoreError(description: "\(path) cannot be opened: the disk is full")
    }

    static func postgres(_ reason: String) -> StoreError {
        StoreError(description: "the database cannot be used: \(reason)")
    }

    static func missing(_ path: String) -> StoreError {
        StoreError(description: "there is no database at \(path)")
    }

    static func unreadable(_ path: String, reason: String) -> StoreError {
        StoreError(description: "\(path) cannot be read: \(reason)")
    }

    /// The directory of a backup does not exist, or cannot be written.
    static func backupDirectory(_ path: String, reason: String) -> StoreError {
        StoreError(description: "the directory \(path) cannot be used for a backup: \(reason)")
    }

    static func backupDestination(_ path: String, reason: String) -> StoreError {
        StoreError(description: "the backup cannot be written to \(path): \(reason)")
    }

    static func noSpace(_ path: String) -> StoreError {
        StoreError(description: "the backup \(path) cannot be written: the disk is full")
    }

    static func cancelled(_ path: String) -> StoreError {
        StoreError(description: "the backup \(path) was cancelled")
    }

    /// An export cannot be written, or was interrupted.
    static func exportFailed(_ path: String, reason: String) -> StoreError {
        StoreError(description: "the export of \(path) is not complete: \(reason)")
    }

    /// Any other error of SQLite.
    static func unusable(_ path: String, reason: String) -> StoreError {
        StoreError(description: "\(path) cannot be opened: \(reason)")
    }
}
