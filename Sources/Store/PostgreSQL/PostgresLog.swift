public import Chat
import Nodes
import Synchronization
import Threads
public import Wire

/// The log of every room in a PostgreSQL database, which any number of nodes share.
public final class PostgresLog: OpenLog {
    /// The name of the history, which all nodes share.
    public var epoch: String { history.epoch }
    private let history: DatabaseHistory
    private let access: AccessState
    private let writers: [PostgresWriter]
    private let reader: LogReader
    private let caretaker: PostgresCaretaker
    let listener: HintListener
    private let notifier: Notifier
    private let connections: DatabaseConnections
    private let threads: Mutex<[NamedThread]>
    private let notifying: Mutex<NamedThread?>
    private let webhookConnector: PostgresConnector
    private let context: ReadContext

    /// Connects to a database, creates or upgrades its tables, and starts the threads.
    ///
    /// - Parameters:
    ///   - url: A connection string of libpq, such as `postgres://user@host/database`.
    ///   - observer: Receives commits and answers on the log's threads, and refusals also on the calling thread.
    ///   - subscribers: The rooms whose commits the observer must get from all nodes; `nil` for none.
    /// - Throws: ``StoreError`` if the database cannot be reached, or belongs to a newer version.
    public init(
        url: String, observer: any LogObserver, subscribers: SubscribedLoops? = nil,
        configuration: StoreConfiguration = StoreConfiguration()
    ) throws(StoreError) {
        let settings = PostgresConnection.Settings(
            url: url, answerTime: configuration.databaseAnswerTime,
            changes: PostgresConnection.Settings.ChangeBounds(lockTime: configuration.roomLockTime),
            allowsUnsafe: configuration.allowsUnsafeDatabase,
            pinsSynchronousCommit: configuration.pinsSynchronousCommit)
        let access = AccessState(
            node: makeRandomName(), age: configuration.accessAge, clock: configuration.clock)
        let history: DatabaseHistory
        let danger: String?
        do {
            var patient = settings
            // The tables are created in any case, and the node serves what it can.
            patient.allowsUnsafe = true
            patient.answerTime = PostgresConnection.Settings.commandAnswerTime
            patient.changes = nil
            let connection = try PostgresConnection(patient)
            danger = try PostgresSchema.migrate(connection)
            if try connection.first("SELECT current_setting('data_checksums')", row: { $0.text(0) }) == "off" {
                configuration.onMissingChecksums?("PostgreSQL's pg_checksums --enable adds them, while it is stopped")
            }
            try DatabaseCopy.checkIsWhole(connection)
            history = DatabaseHistory(
                epoch: try PostgresSchema.epoch(connection, onRenewal: configuration.onNewEpoch),
                onOther: configuration.onOtherHistory)
            // Before messages can expire, so that no node deletes what this one keeps.
            try Retention(connection).report(configuration.keepDays)
            configuration.roomNumbers.use(try connection.highestRoom())
            try access.load(connection)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .postgres("\(error)")
        }
        self.history = history
        let configuration = configuration.ofNode
        func connector(_ purpose: NodeCounts.Purpose) -> PostgresConnector {
            var settings = settings
            if purpose == .writer { settings.onWait = configuration.onWriterWait }
            if purpose == .reader || purpose == .webhooks { settings.onWait = configuration.onReaderWait }
            // The notifier reads nothing, so the history does not matter to it.
            return PostgresConnector(
                settings, purpose: purpose, countedBy: configuration.connections,
                history: purpose == .notifier ? nil : history)
        }
        let notifier = Notifier(connector(.notifier), node: access.node)
        let pipe = try WakePipe()
        let observer = NodeFeeds(observer, subscribers: subscribers, wake: { pipe.wake() })
        access.report(to: observer)
        let listener = HintListener(
            connector(.listener), access: access, feeds: observer, pipe: pipe, configuration: configuration)
        let caretaker = PostgresCaretaker(
            connector: connector(.caretaker), access: access, configuration: configuration,
            reports: WriterReports(observer, configuration) { notifier.committed($0, changesAccess: $1) })
        let writers = (0..<max(1, configuration.writers)).map { _ in
            PostgresWriter(
                connector: connector(.writer), access: access,
                configuration: configuration,
                reports: WriterReports(observer, configuration) { batches, changesAccess in
                    notifier.committed(batches, changesAccess: changesAccess)
                    // A deletion or an erasure has added a job.
                    if changesAccess { caretaker.wake() }
                })
        }
        if let danger {
            // Reported before the first request, so that the node is never ready.
            if configuration.allowsUnsafeDatabase {
                configuration.onUnsafeDatabase?(danger)
            } else {
                for writer in writers { writer.begin(failing: .unsafe(because: danger)) }
            }
        }
        let context = ReadContext(epoch: history.epoch, bans: access.bans, configuration)
        let reader = LogReader(context, observer: observer, onAnswered: { observer.answered($0) })
        self.listener = listener
        self.notifier = notifier
        self.access = access
        self.writers = writers
        self.reader = reader
        self.caretaker = caretaker
        connections = configuration.connections
        webhookConnector = connector(.webhooks)
        self.context = context
        var threads = writers.enumerated().map { index, writer in
            NamedThread(name: "writer \(index)") { writer.run() }
        }
        for index in 0..<max(1, configuration.readers) {
            let connector = connector(.reader)
            threads.append(
                NamedThread(name: "reader \(index)") {
                    reader.run(PostgresReader(connector, access, context), number: index)
                })
        }
        threads.append(NamedThread(name: "caretaker") { caretaker.run() })
        threads.append(NamedThread(name: "listener") { listener.run() })
        self.threads = Mutex(threads)
        notifying = Mutex(NamedThread(name: "notifier") { notifier.run() })
    }

    deinit {
        close()
    }

    /// The bans in force.
    public var bans: BanTable { access.bans }

    /// The time until which this node knows enough to send messages to subscribers.
    public var accessTerm: AccessTerm { access.term }

    /// Queues changes for the next commit.
    public func submit(_ submissions: [Submission]) {
        guard writers.count > 1 else { return writers[0].submit(submissions) }
        var parts = Array(repeating: [Submission](), count: writers.count)
        for submission in submissions {
            // A room always has the same writer. Changes of users go to the first writer.
            let index = submission.room.map { Int(UInt(bitPattern: $0.hashValue) % UInt(writers.count)) } ?? 0
            parts[index].append(submission)
        }
        for (writer, part) in zip(writers, parts) where !part.isEmpty { writer.submit(part) }
    }

    /// Queues reads.
    public func fetch(_ queries: [Query]) {
        reader.fetch(queries)
    }

    /// Removes queued reads whose answers are no longer wanted.
    public func cancel(_ replies: [any PendingReply]) {
        reader.cancel(replies)
    }

    /// The reason why messages cannot be stored at present; `nil` if they can.
    public var failure: String? {
        if history.isOther { return PostgresError.otherHistory.description }
        // Not `lazy`: that would ask a writer twice, and its answer may change in between.
        return writers.compactMap(\.failure).first
    }

    /// `nil`, because the files belong to PostgreSQL.
    public var storageLoss: Problem? { nil }

    /// 0, because rooms are quarantined with SQLite only.
    public var quarantinedRooms: Int { 0 }

    /// True if the database has not answered the listener for ``StoreConfiguration/listenerSilence``, or if no reader can
    /// connect.
    public var isCutOff: Bool { listener.isCutOff(at: .now) || reader.failure != nil }

    /// The counters of this node since its start.
    public var nodeCounts: NodeCounts? {
        var counts = listener.counts
        counts.connections = connections.counts
        counts.hintsSent = notifier.count
        counts.conflicts = writers.reduce(0) { $0 + $1.conflicts }
        counts.isCaretaker = caretaker.isHolder
        return counts
    }

    /// The size of the database, on the node that does the background work. The other values are PostgreSQL's own.
    public var sizes: StorageSizes {
        var sizes = StorageSizes()
        sizes.databaseBytes = caretaker.databaseBytes
        return sizes
    }

    /// The number of submissions waiting for a commit.
    public var queuedSubmissions: Int { writers.reduce(0) { $0 + $1.queued } }

    /// The number of queries waiting for a reader.
    public var queuedQueries: Int { reader.queued }

    /// Returns the webhooks, with a connection of their own, which is made when it is needed.
    public func webhookStore() -> any WebhookStore {
        PostgresWebhookStore(PostgresReader(webhookConnector, access, context)) { [weak caretaker] in
            caretaker?.isHolder ?? false
        }
    }

    /// Commits the queued submissions, refuses the queued queries, stops the threads, and closes the connections.
    ///
    /// Later submissions and queries are refused with 503 `unavailable`. The observer must not call this, because it
    /// waits for the observer to return. A second call does nothing, or waits for the first to end.
    public func close() {
        for writer in writers { writer.close() }
        reader.close()
        caretaker.close()
        listener.close()
        threads.withLock { threads in
            for thread in threads { thread.join() }
            threads = []
        }
        // Last, so that the other nodes hear of the last commits.
        notifier.close()
        notifying.withLock { $0.take()?.join() }
    }
}
