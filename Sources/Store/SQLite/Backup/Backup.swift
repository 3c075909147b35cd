import CSQLite

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

    private let source: SourceDatabase
    private let destination: BackupDestination

    /// Prepares a backup of the database at `path` to a file at `destination`.
    ///
    /// - Parameter replacing: true to replace an existing file.
    /// - Throws: ``StoreError`` if there is no such database, or if the file cannot be created there.
    public init(of path: String, to destination: String, replacing: Bool = false) throws(StoreError) {
        source = try SourceDatabase(path)
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
        let (rooms, messages) = try finish(file)
        if isCancelled() { throw .cancelled(destination.path) }
        let bytes = file.size
        try destination.publish(file)
        BackupMark.set(beside: source.location)
        return Contents(rooms: rooms, messages: messages, bytes: bytes)
    }

    private func copy(to file: TemporaryFile, _ interrupter: Interrupter) throws(StoreError) {
        do {
            let connection = try source.connect()
            defer { connection.close() }
            try connection.use { db in
                let pages = try db.first("PRAGMA page_count") { $0.integer(0) } ?? 0
                let pageBytes = try db.first("PRAGMA page_size") { $0.integer(0) } ?? 0
                try db.requestChecksums()
                try interrupter.watch(db, total: pages * pageBytes) {
                    try db.run("VACUUM INTO $1", file.path)
                }
            }
            _ = try PageSeals.add(to: file.path)
        } catch let error as SQLiteError where error.isInterrupt {
            throw .cancelled(destination.path)
        } catch let error as SQLiteError where error.isFullDisk {
            throw .noSpace(destination.path)
        } catch {
            throw named(source.path, error)
        }
    }

    /// Files the journal's messages in the copy, marks it as a backup, and counts its rooms and messages.
    private func finish(_ file: TemporaryFile) throws(StoreError) -> (rooms: Int64, messages: Int64) {
        do {
            let connection = try SQLiteDatabase(path: file.path)
            defer { connection.close() }
            return try connection.use { db in
                // An interrupted copy is removed, so it needs neither a journal nor syncs.
                try db.execute(
                    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON")
                try db.transaction(.immediate) { db in
                    // A database of an older version is left for that version to upgrade.
                    if try Schema.isCurrent(db) {
                        try WriterStatements(db).fileAll()
                        if try db.has("SELECT 1 FROM meta WHERE key = 'search_removed'") { try db.purgeWords() }
                    }
                    guard try Schema.markAsBackup(db) else {
                        throw StoreError.damaged(source.path, reason: "its epoch is missing")
                    }
                }
                return try Schema.counts(db)
            }
        } catch let error as SQLiteError where error.isFullDisk {
            throw .noSpace(destination.path)
        } catch {
            throw named(source.path, error)
        }
    }
}

/// Reports the progress of a long statement, and ends the statement when it is cancelled.
final class Interrupter {
    private let isCancelled: () -> Bool
    private let progress: (Int64) -> Void
    private var total: Int64 = 0
    private var next = ContinuousClock.now

    /// - Parameter progress: called with the total that was passed to ``watch(_:total:_:)``.
    init(_ isCancelled: @escaping () -> Bool, progress: @escaping (Int64) -> Void) {
        self.isCancelled = isCancelled
        self.progress = progress
    }

    /// The number of virtual machine steps between two calls of the progress handler: some thousand rows.
    private static let steps: Int32 = 10_000
    /// The time between two reports.
    private static let interval = Duration.milliseconds(200)

    /// Runs `body`, reporting progress and checking for cancellation while its statements run.
    ///
    /// - Throws: the errors of `body`; after a cancellation, a `SQLiteError` with `SQLITE_INTERRUPT`.
    func watch<R>(_ db: SQLiteConnection, total: Int64, _ body: () throws -> R) rethrows -> R {
        self.total = total
        // SQLite calls the handler on this thread only while `body` runs, and this object outlives its own method.
        sqlite3_progress_handler(
            db.handle, Self.steps,
            { context in Unmanaged<Interrupter>.fromOpaque(context!).takeUnretainedValue().look() ? 1 : 0 },
            Unmanaged.passUnretained(self).toOpaque())
        defer { sqlite3_progress_handler(db.handle, 0, nil, nil) }
        return try withExtendedLifetime(self) { try body() }
    }

    private func look() -> Bool {
        if next <= .now {
            next = .now + Self.interval
            progress(total)
        }
        return isCancelled()
    }
}
