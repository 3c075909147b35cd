import Chat
import Nodes
import Synchronization
import Wire

/// A thread for the work that one node does for all: the parts of jobs, the expiry of messages, the removal of old events
/// of access, and the index for searches.
///
/// Each node has this thread, and the one that holds an advisory lock of the database works. When its node ends, loses
/// the connection, or is stopped for ``PostgresConnection/Settings/ChangeBounds/idleTime``, PostgreSQL ends the session
/// and so releases the lock. The thread of another node continues where it stopped. The index has a lock of its own, since
/// some nodes may not search.
final class PostgresCaretaker: Sendable {
    private let connector: PostgresConnector
    private let access: AccessState
    private let configuration: StoreConfiguration
    private let reports: WriterReports
    /// A queue whose items only wake the thread.
    private let wakes = WorkQueue<Void>(limit: 1)
    private let holds = Atomic(false)

    private let databaseSize = Atomic<Int64>(0)

    /// True while this node does the work.
    var isHolder: Bool { holds.load(ordering: .relaxed) }

    /// The size of the database in bytes, as of the last minute; `nil` while another node does the work.
    var databaseBytes: Int64? {
        let size = databaseSize.load(ordering: .relaxed)
        return isHolder && size > 0 ? size : nil
    }

    /// The advisory lock: `BkSd`.
    private static let lock = 0x426B_5364
    /// The advisory lock for the index: `BkSe`.
    private static let indexLock = 0x426B_5365
    /// Time in milliseconds between two looks for work that other nodes have added.
    private static let interval = 1000
    /// Time for which events of access are kept: 1 hour. A node that was away for longer reads all bans again.
    static let eventTime = Duration.seconds(3600)
    /// Time between two removals of older events, and between two looks at the size of the database.
    private static let removalInterval = Duration.seconds(60)

    init(
        connector: PostgresConnector, access: AccessState, configuration: StoreConfiguration, reports: WriterReports
    ) {
        self.connector = connector
        self.access = access
        self.configuration = configuration
        self.reports = reports
    }

    /// Looks for work now. Called after a commit that may have added some.
    func wake() {
        _ = wakes.append([()])
    }

    /// Ends the thread after the part that it is working on.
    func close() {
        wakes.close()
    }

    /// Runs the thread until it is closed.
    func run() {
        var use = connector.use()
        var work: Work?
        var indexing: Indexing?
        var wait = Self.interval
        var (nextReport, others) = (ContinuousClock.now, [Int?]())
        while wakes.take(1, within: wait) != nil {
            do {
                let (connection, isNew) = try use.connection()
                if isNew { (work, indexing) = (nil, Indexing(connection, configuration)) }
                if nextReport <= .now {
                    let found = try Retention(connection).report(configuration.keepDays)
                    nextReport = .now + configuration.retentionInterval
                    if found != others { configuration.onOtherRetention?(found) }
                    others = found
                }
                if work == nil { work = try Work(connection, access, configuration) }
                if let size = try work?.run(reports) { databaseSize.store(size, ordering: .relaxed) }
                try indexing?.run()
                let next = [work?.next, indexing?.next].compactMap(\.self).min() ?? .now
                wait = max(0, min(Self.interval, ContinuousClock.now.duration(to: next).milliseconds))
            } catch {
                // Not reported here: failed sends report that the database cannot be reached. All nodes try again.
                work = nil
                wait = Self.interval
            }
            holds.store(work != nil, ordering: .relaxed)
        }
        holds.store(false, ordering: .relaxed)
    }

    /// The work of the node that holds the lock.
    private struct Work {
        private var commits: PostgresCommits
        private let connection: PostgresConnection
        private var nextLook = ContinuousClock.now
        private var nextRemoval = ContinuousClock.now

        /// Takes the lock; `nil` if another node has it.
        init?(_ connection: PostgresConnection, _ access: AccessState, _ configuration: StoreConfiguration) throws {
            guard try connection.takesLock(PostgresCaretaker.lock) else { return nil }
            self.connection = connection
            commits = PostgresCommits(connection, access, configuration)
        }

        /// The time when there may be more to do.
        var next: ContinuousClock.Instant {
            [commits.jobs.next, commits.expiry.next].compactMap(\.self).reduce(nextLook, min)
        }

        /// Does what is due.
        ///
        /// - Returns: The size of the database in bytes, once a minute.
        mutating func run(_ reports: WriterReports) throws -> Int64? {
            var size: Int64?
            if nextLook <= .now {
                // Progress is stored with each part, so the rows are as new as the queue.
                commits.jobs.add(try connection.jobs())
                nextLook = .now + .milliseconds(PostgresCaretaker.interval)
            }
            if nextRemoval <= .now {
                let end = try commits.time().milliseconds - eventTime.components.seconds * 1000
                try connection.runSoon("DELETE FROM events WHERE at < $1", end)
                size = try connection.run("SELECT pg_database_size(current_database())").integer(0, 0)
                nextRemoval = .now + removalInterval
            }
            if commits.expiry.next <= .now { commits.expire(reports) }
            if let due = commits.jobs.next, due <= .now { commits.work(reports) }
            return size
        }
    }

    /// The index for searches, for which the node that holds its lock works.
    ///
    /// A node that does not search takes the lock only while it removes words of changed messages, so that they go also
    /// if no node searches.
    private struct Indexing {
        private let connection: PostgresConnection
        private let configuration: StoreConfiguration
        private var indexer: WordIndexer
        private var isHolder = false
        /// The time when there may be more to do.
        private(set) var next = ContinuousClock.now

        init(_ connection: PostgresConnection, _ configuration: StoreConfiguration) {
            self.connection = connection
            self.configuration = configuration
            indexer = WordIndexer(connection, configuration)
        }

        /// Indexes some messages, if that is due. Without the index, all other work goes on.
        mutating func run() throws {
            guard next <= .now else { return }
            if !isHolder {
                isHolder = try connection.takesLock(PostgresCaretaker.indexLock)
                if !isHolder { return next = .now + .milliseconds(PostgresCaretaker.interval) }
            }
            do {
                try indexer.run()
            } catch let error as PostgresError where error.kind == .connection {
                throw error
            } catch {
                if connection.isInTransaction { try connection.execute("ROLLBACK") }
                configuration.onJob?(.failed("indexing messages", "\(error)"))
                indexer.fail()
            }
            next = indexer.next
            if !configuration.indexes, indexer.isIdle {
                try connection.run("SELECT pg_advisory_unlock(\(PostgresCaretaker.indexLock))")
                isHolder = false
            }
        }
    }
}

extension PostgresConnection {
    /// Takes an advisory lock of the session.
    ///
    /// - Returns: False if another session has it.
    fileprivate func takesLock(_ lock: Int) throws -> Bool {
        try run("SELECT pg_try_advisory_lock(\(lock))").integer(0, 0) == 1
    }
}
