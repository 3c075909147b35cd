import GRDB
import Wire

/// Makes a copy of a database, of one moment, whether a server has it open or not.
///
/// The copy is made by `VACUUM INTO`: it reads one snapshot, however much is written meanwhile, and writes only what is in
/// the tables, nothing of what SQLite has left in unused parts of pages. (The backup interface copies those too, and
/// begins anew whenever another process has written.) While the snapshot lasts the server's write-ahead log grows by what
/// is sent, for a second or so per 400 MB.
///
/// What is in the journal only is put in its place, and the journal emptied: it may still hold what has been deleted
/// since. The copy has no epoch but says whose backup it is, see ``Schema/renewEpoch(_:)``.
public struct Backup: Sendable {
    /// What a backup holds.
    public struct Contents: Sendable, Hashable {
        /// Its rooms.
        public var rooms: Int64
        /// Its messages, tombstones among them.
        public var messages: Int64
        /// The size of its file.
        public var bytes: Int64
    }

    /// How far a backup has come.
    public struct Progress: Sendable, Hashable {
        /// The number of bytes that have been written.
        public var bytes: Int64
        /// About how many there will be.
        public var total: Int64
    }

    private let source: VisitedDatabase
    private let destination: BackupDestination

    /// A backup of the database at `path` to a file at `destination`.
    ///
    /// - Parameter replacing: whether a file that is there is replaced.
    /// - Throws: ``StoreError`` when there is no such database, or when the file cannot be there.
    public init(of path: String, to destination: String, replacing: Bool = false) throws(StoreError) {
        source = try VisitedDatabase(path)
        self.destination = try BackupDestination(destination, of: source, replacing: replacing)
    }

    /// Makes the copy. It is where it shall be when it is whole and on the disk; when that cannot be, nothing is left.
    ///
    /// - Parameters:
    ///   - isCancelled: asked now and then whether to give up.
    ///   - progress: called now and then.
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

    /// Makes the copy what it is to be.
    private func finish(_ file: BackupDestination.File) throws(StoreError) -> Contents {
        do {
            let connection = try DatabaseQueue(path: file.path)
            defer { try? connection.close() }
            return try connection.inDatabase { db in
                // Should this be interrupted there is no copy, so it need not be prepared for that.
                try db.execute(
                    sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON")
                try db.inTransaction(.immediate) {
                    // Of an older version it is left as it is, for that version.
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
