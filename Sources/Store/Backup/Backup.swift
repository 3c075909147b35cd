import GRDB
import Wire

/// Copies a database to one file, whether or not a server has it open.
///
/// The copy is made by `VACUUM INTO`. It reads one snapshot, however much is written meanwhile, and copies the tables
/// only. The backup interface would also copy unused parts of pages, which may hold deleted content, and would start
/// over after each write of another process. The server's write-ahead log cannot be reset while the snapshot lasts, so
/// it grows by what is written.
///
/// Messages that only the journal of the source has are filed in the copy, and the journal of the copy is emptied: its
/// rows may hold content that was deleted later. The copy has no epoch; it names the database that it was made from,
/// see ``Schema/renewEpoch(_:)``.
public struct Backup: Sendable {
    /// The contents of a finished backup.
    public struct Contents: Sendable, Hashable {
        /// The number of rooms; deleted rooms are not counted.
        public var rooms: Int64
        /// The number of messages, including tombstones.
        public var messages: Int64
        /// The size of the file in bytes.
        public var bytes: Int64
    }

    /// The progress of a backup.
    public struct Progress: Sendable, Hashable {
        /// The number of bytes written so far.
        public var bytes: Int64
        /// The estimated size of the backup in bytes.
        public var total: Int64
    }

    private let source: VisitedDatabase
    private let destination: BackupDestination

    /// Prepares a backup of the database at `path` to a file at `destination`.
    ///
    /// - Parameter replacing: true to replace an existing file.
    /// - Throws: ``StoreError`` if there is no such database, or if the file cannot be created there.
    public init(of path: String, to destination: String, replacing: Bool = false) throws(StoreError) {
        source = try VisitedDatabase(path)
        self.destination = try BackupDestination(destination, of: source, replacing: replacing)
    }

    /// Makes the backup.
    ///
    /// The file gets its name once it is complete and on the disk. After an error nothing is left.
    ///
    /// - Parameters:
    ///   - isCancelled: called repeatedly while the copy is made; returns true to cancel it.
    ///   - progress: called about five times a second.
    /// - Throws: ``StoreError``.
    public func run(
        isCancelled: @escaping () -> Bool = { false }, progress: @escaping (Progress) -> Void = { _ in }
    ) throws(StoreError) -> Contents {
        let file = try destination.makeFile()
        defer { file.remove() }
        try copy(to: file, Interrupter(isCancelled) { progress(Progress(bytes: file.size, total: $0)) })
        var contents = try finish(file)
        if isCancelled() { throw .cancelled(destination.path) }
        try file.publish()
        contents.bytes = destination.size
        return contents
    }

    private func copy(to file: BackupDestination.File, _ interrupter: Interrupter) throws(StoreError) {
        do {
            let connection = try source.connect("backscroll.backup")
            defer { try? connection.close() }
            try connection.inDatabase { db in
                let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                let pageBytes = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0
                try interrupter.watch(db, total: pages * pageBytes) {
                    try db.execute(sql: "VACUUM INTO ?", arguments: [file.path])
                }
            }
        } catch let error as StoreError {
            throw error
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            throw .cancelled(destination.path)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            throw .noSpace(destination.path)
        } catch {
            throw named(source.path, error)
        }
    }

    /// Files the journal's messages in the copy, and marks it as a backup.
    private func finish(_ file: BackupDestination.File) throws(StoreError) -> Contents {
        do {
            let connection = try DatabaseQueue(path: file.path)
            defer { try? connection.close() }
            return try connection.inDatabase { db in
                // An interrupted copy is removed, so it needs neither a journal nor syncs.
                try db.execute(
                    sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON")
                try db.inTransaction(.immediate) {
                    // A database of an older version is left for that version to upgrade.
                    if try Schema.migrator.hasCompletedMigrations(db) { try Journal.empty(db, WriterStatements(db)) }
                    guard try Schema.markAsBackup(db) else {
                        throw StoreError.damaged(source.path, reason: "its epoch is missing")
                    }
                    return .commit
                }
                let (rooms, messages) = try Schema.counts(db)
                return Contents(rooms: rooms, messages: messages, bytes: 0)
            }
        } catch let error as StoreError {
            throw error
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            throw .noSpace(destination.path)
        } catch {
            throw named(source.path, error)
        }
    }
}
