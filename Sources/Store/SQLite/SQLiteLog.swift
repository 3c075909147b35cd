public import Chat
import Synchronization
import Threads
public import Wire

/// The log of every room in one SQLite file.
public final class SQLiteLog: OpenLog {
    /// A random name of the history. It is created with the database, and replaced when a restored backup is opened.
    public let epoch: String
    /// The bans in force.
    public let bans: BanTable
    private let writer: LogWriter
    private let reader: LogReader
    private let storage: StorageWatch
    private let location: String
    private let held: Mutex<Held?>
    private let journal: Journal
    private let context: ReadContext

    /// Opens a database, creating it if it does not exist, and starts the threads.
    ///
    /// - Parameters:
    ///   - path: the file. SQLite and the server create `-wal`, `-shm` and `.lock` beside it.
    ///   - observer: receives commits and answers on the log's threads. Refusals because a queue is full or the log is
    ///     closed are delivered on the calling thread, before ``submit(_:)`` or ``fetch(_:)`` returns.
    /// - Throws: ``StoreError`` if another server uses the database, if it belongs to a newer version or another
    ///   program, or if it cannot be read or written.
    public init(
        path: String, observer: any LogObserver, configuration: StoreConfiguration = StoreConfiguration()
    ) throws(StoreError) {
        let file = try DatabaseFile(path)
        let connection = try file.connectForWriting(configuration)
        try file.opening { try connection.use { db in try DatabaseCopy.checkIsWhole(db) } }
        guard let epoch = try file.opening({ try connection.use(Schema.epoch) }) else {
            throw .damaged(path, reason: "its epoch is missing")
        }
        var readers: [SQLiteDatabase] = []
        for _ in 0..<max(1, configuration.readers) { readers.append(try file.connectForReading(configuration)) }
        self.epoch = epoch

        let journal = Journal(configuration.journal)
        let bans = BanTable()
        try file.opening {
            try connection.transaction(.deferred) { db in
                configuration.roomNumbers.use(try db.highestRoom())
                try journal.load(db, at: configuration.clock())
                try bans.load(db, at: configuration.clock())
            }
        }
        self.bans = bans
        let storage = StorageWatch(location: file.location)
        let writer = LogWriter(
            database: connection, journal: journal, bans: bans, storage: storage, observer: observer,
            configuration: configuration)
        let context = ReadContext(epoch: epoch, bans: bans, configuration)
        let reader = LogReader(context, observer: observer)
        var threads = [NamedThread(name: "writer") { writer.run() }]
        for (index, connection) in readers.enumerated() {
            threads.append(
                NamedThread(name: "reader \(index)") {
                    reader.run(SQLiteReader(connection, journal, storage, context), number: index)
                })
        }
        self.storage = storage
        self.journal = journal
        self.context = context
        location = file.location
        self.writer = writer
        self.reader = reader
        held = Mutex(Held(file: file, connection: connection, threads: threads))
    }

    deinit {
        close()
    }

    /// Queues changes for the next commit.
    public func submit(_ submissions: [Submission]) {
        writer.submit(submissions)
    }

    /// Queues reads.
    public func fetch(_ queries: [Query]) {
        reader.fetch(queries)
    }

    /// The error of sends while the database's files are missing or replaced; `nil` if they are in place.
    public var storageLoss: Problem? { storage.isLost ? .storageLost : nil }

    /// Removes queued reads whose answers are no longer wanted.
    public func cancel(_ replies: [any PendingReply]) {
        reader.cancel(replies)
    }

    /// The reason why messages cannot be stored at present; `nil` if they can.
    public var failure: String? { writer.failure }

    /// The number of rooms that are read-only because their rows are damaged.
    public var quarantinedRooms: Int { writer.quarantinedCount }

    /// False, because there are no other nodes.
    public var isCutOff: Bool { false }

    /// `nil`, because there are no other nodes.
    public var nodeCounts: NodeCounts? { nil }

    /// The space that the database's files take, and the time of the last backup.
    public var sizes: StorageSizes { StorageSizes(location: location) }

    /// The number of submissions waiting for a commit.
    public var queuedSubmissions: Int { writer.queued }

    /// The number of queries waiting for a reader.
    public var queuedQueries: Int { reader.queued }

    /// Returns the webhooks, with a reading connection of their own.
    public func webhookStore() throws -> any WebhookStore {
        let configuration = context.configuration
        let opened = try held.withLock { try $0?.connectForReading(configuration) }
        guard let opened else { throw StoreError(description: "the log is closed") }
        return SQLiteWebhookStore(SQLiteReader(opened, journal, storage, context), writer)
    }

    /// Commits the queued submissions, refuses the queued queries, stops the threads, and closes the database.
    ///
    /// Later submissions and queries are refused with 503 `unavailable`. The observer must not call this, because it
    /// waits for the observer to return. A second call does nothing, or waits for the first to end.
    public func close() {
        writer.close()
        reader.close()
        held.withLock { held in held.take()?.giveBack() }
    }

    /// The system resources of an open log.
    private struct Held: ~Copyable {
        let file: DatabaseFile
        /// The writing connection. The reading connections end with their threads.
        let connection: SQLiteDatabase
        let threads: [NamedThread]

        func connectForReading(_ configuration: StoreConfiguration) throws -> SQLiteDatabase {
            try file.connectForReading(configuration)
        }

        consuming func giveBack() {
            for thread in threads { thread.join() }
            // Closing the last connection checkpoints the write-ahead log. If that fails, the next start does it.
            connection.close()
        }
    }
}
