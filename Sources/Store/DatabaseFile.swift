import GRDB
import Glibc

/// The file of a database: opened once on this machine, by one process.
struct DatabaseFile: ~Copyable {
    /// Where it is.
    let path: String
    private let lock: Int32

    /// Makes the file's directory if need be, and takes the lock that a second server would want.
    ///
    /// The lock is on a file beside the database, not on the database, whose locks are SQLite's own; the kernel gives it
    /// back when the process ends, however it ends.
    init(_ path: String) throws(StoreError) {
        self.path = path
        let directory = Self.directory(of: path)
        try Self.makeDirectory(directory)
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw .directory(directory, reason: String(cString: strerror(errno))) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            close(lock)
            throw number == EWOULDBLOCK ? .inUse(path) : .unreadable(path, reason: String(cString: strerror(number)))
        }
        self.lock = lock
    }

    deinit {
        close(lock)
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func makeDirectory(_ path: String) throws(StoreError) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        if errno == ENOENT {
            try makeDirectory(directory(of: path))
            if mkdir(path, 0o700) == 0 { return }
        }
        throw .directory(path, reason: String(cString: strerror(errno)))
    }

    /// A connection to the database, for one thread.
    func connect(_ configuration: StoreConfiguration, readonly: Bool) throws -> DatabaseQueue {
        var settings = Configuration()
        settings.readonly = readonly
        settings.label = readonly ? "backscroll.reader" : "backscroll.writer"
        settings.maximumReaderCount = 1
        if !readonly {
            settings.journalMode = .wal
            settings.busyMode = .timeout(5)
        }
        let maximumPages = configuration.maximumPages
        settings.prepareDatabase { db in
            // 64 MiB of pages for who writes, 16 MiB for who reads; the rest is the system's to keep.
            try db.execute(sql: "PRAGMA cache_size = \(readonly ? -16_384 : -65_536)")
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            if readonly {
                try db.execute(sql: "PRAGMA mmap_size = 1073741824")
            } else {
                try db.execute(sql: "PRAGMA wal_autocheckpoint = \(configuration.checkpointPages)")
                try db.execute(sql: "PRAGMA journal_size_limit = \(configuration.checkpointPages * 4096)")
                if let maximumPages { try db.execute(sql: "PRAGMA max_page_count = \(maximumPages)") }
            }
        }
        let queue = try DatabaseQueue(path: path, configuration: settings)
        if !readonly {
            // A commit is on the disk when it returns. Set last, because GRDB's way to WAL ends with NORMAL, which syncs
            // at checkpoints only and would lose what a sender has been told is stored.
            try queue.inDatabase { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
        }
        return queue
    }

    /// Opens the connection that writes, and brings the tables up to this version.
    func openForWriting(_ configuration: StoreConfiguration) throws(StoreError) -> DatabaseQueue {
        let migrator = Schema.migrator
        do {
            let queue = try connect(configuration, readonly: false)
            let unknown = try queue.read { db in
                try migrator.hasBeenSuperseded(db)
                    ? migrator.appliedIdentifiers(db).subtracting(migrator.migrations).sorted() : []
            }
            guard unknown.isEmpty else { throw StoreError.newer(path, migrations: unknown) }
            try migrator.migrate(queue)
            return queue
        } catch let error as StoreError {
            throw error
        } catch let error as DatabaseError {
            throw .unreadable(path, reason: error.message ?? "\(error.resultCode)")
        } catch {
            throw .unreadable(path, reason: "\(error)")
        }
    }
}
