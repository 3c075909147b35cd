public import Chat
import GRDB
import Synchronization

/// The log of every room in one SQLite file.
public final class SQLiteLog: MessageLog {
    /// Made with the database, random.
    public let epoch: String
    /// Holds the lock on the database until the log is closed.
    private let file: Mutex<DatabaseFile?>
    private let writer: LogWriter
    private let reader: LogReader
    private let threads: Mutex<[StoreThread]>

    /// Opens a database, making it if it is not there, and starts the threads.
    ///
    /// - Parameters:
    ///   - path: the file. Beside it there will be `-wal`, `-shm` and `.lock`.
    ///   - observer: hears of commits and answers, on the log's threads.
    /// - Throws: ``StoreError`` when another process has the database, when it is of a newer version, or when it cannot
    ///   be read or written.
    public init(
        path: String, observer: any LogObserver, configuration: StoreConfiguration = StoreConfiguration()
    ) throws(StoreError) {
        let file = try DatabaseFile(path)
        let database = try file.openForWriting(configuration)
        var connections: [DatabaseQueue] = []
        do {
            epoch = try database.read { db in
                try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'epoch'")!
            }
            for _ in 0..<configuration.readers {
                connections.append(try file.connect(configuration, readonly: true))
            }
        } catch {
            throw .unreadable(path, reason: "\(error)")
        }
        let writer = LogWriter(database: database, observer: observer, configuration: configuration)
        let reader = LogReader(observer: observer, epoch: epoch, configuration: configuration)
        var threads: [StoreThread] = []
        threads.append(StoreThread(name: "writer") { writer.run() })
        for (index, connection) in connections.enumerated() {
            threads.append(StoreThread(name: "reader \(index)") { reader.run(connection) })
        }
        self.file = Mutex(consume file)
        self.writer = writer
        self.reader = reader
        self.threads = Mutex(threads)
    }

    /// Queues changes for the next commit.
    public func submit(_ submissions: [Submission]) {
        writer.submit(submissions)
    }

    /// Queues reads.
    public func fetch(_ queries: [Query]) {
        reader.fetch(queries)
    }

    /// Why messages cannot be stored at the moment; `nil` when they can.
    public var failure: String? { writer.failure }

    /// How many submissions wait for a commit.
    public var queuedSubmissions: Int { writer.queued }

    /// How many queries wait for a reader.
    public var queuedQueries: Int { reader.queued }

    /// Commits and answers what is queued, and ends the threads, and leaves the database to others. What is submitted afterwards is refused.
    public func close() {
        writer.close()
        reader.close()
        let running = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in running { thread.join() }
        file.withLock { $0 = nil }
    }
}
