public import Chat
import GRDB
import Synchronization
public import Wire

/// The log of every room in one SQLite file.
public final class SQLiteLog: MessageLog {
    /// Random; made with the database, and anew when one is opened that was restored from a backup.
    public let epoch: String
    /// The bans in force.
    public let bans: BanTable
    private let writer: LogWriter
    private let reader: LogReader
    private let storage: StorageWatch
    private let held: Mutex<Held?>

    /// Opens a database, making it if it is not there, and starts the threads.
    ///
    /// - Parameters:
    ///   - path: the file. Beside it there will be `-wal`, `-shm` and `.lock`.
    ///   - observer: hears of commits and answers, on the log's threads; of what is refused because a queue is full or
    ///     the log is closed, on the thread that asked, before ``submit(_:)`` or ``fetch(_:)`` returns.
    /// - Throws: ``StoreError`` when another server has the database, when it is of a newer version or another program,
    ///   or when it cannot be read or written.
    public init(
        path: String, observer: any LogObserver, configuration: StoreConfiguration = StoreConfiguration()
    ) throws(StoreError) {
        let file = try DatabaseFile(path)
        let connection = try file.connectForWriting(configuration)
        guard let epoch = try file.opening({ try connection.read(Schema.epoch) }) else {
            throw .damaged(path, reason: "its epoch is missing")
        }
        var readers: [DatabaseQueue] = []
        for _ in 0..<max(1, configuration.readers) { readers.append(try file.connectForReading(configuration)) }
        self.epoch = epoch

        var journal = Journal(configuration)
        let bans = BanTable()
        try file.opening {
            try connection.read { db in
                try journal.load(db, at: configuration.clock())
                try bans.load(db, at: configuration.clock())
            }
        }
        self.bans = bans
        let storage = StorageWatch(location: file.location)
        let writer = LogWriter(
            database: connection, journal: journal, bans: bans, storage: storage, observer: observer,
            configuration: configuration)
        let reader = LogReader(
            recent: journal.recent, bans: bans, storage: storage, observer: observer, epoch: epoch,
            configuration: configuration)
        var threads = [StoreThread(name: "writer") { writer.run() }]
        for (index, connection) in readers.enumerated() {
            threads.append(StoreThread(name: "reader \(index)") { reader.run(connection) })
        }
        self.storage = storage
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

    /// The refusal that sends get because the database's files are not in their places; `nil` when they are.
    public var storageLoss: Problem? { storage.isLost ? .storageLost : nil }

    /// Removes reads from the queue that nobody waits for any more.
    public func cancel(_ queries: [(ticket: Ticket, asker: Asker)]) {
        reader.cancel(queries)
    }

    /// The reason why messages cannot be stored at the moment; `nil` when they can.
    public var failure: String? { writer.failure }

    /// The number of rooms that take no changes because their part of the database is damaged.
    public var asideRooms: Int { writer.asideCount }

    /// The number of submissions that wait for a commit.
    public var queuedSubmissions: Int { writer.queued }

    /// The number of queries that wait for a reader.
    public var queuedQueries: Int { reader.queued }

    /// Commits what is queued, refuses what is asked and not yet read, ends the threads, and gives the database back.
    ///
    /// Submissions and queries that come afterwards are refused with 503 `unavailable`, as are the queries that wait. Must not be called by the observer, for
    /// whose return it would wait. A second call does nothing, or waits for the first to end.
    public func close() {
        writer.close()
        reader.close()
        held.withLock { held in held.take()?.giveBack() }
    }

    /// What a log has of the system while it is open.
    private struct Held: ~Copyable {
        let file: DatabaseFile
        /// The connection that writes; those that read end with their threads.
        let connection: DatabaseQueue
        let threads: [StoreThread]

        consuming func giveBack() {
            for thread in threads { thread.join() }
            // The last connection to be closed brings the write-ahead log into the database. Should that fail, the next
            // one to be opened does it.
            try? connection.close()
        }
    }
}
