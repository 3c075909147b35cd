import CSQLite
import Chat
import Synchronization
import Wire

/// The writer's thread: it takes the queued submissions, commits them in one transaction with one sync, and tells the
/// observer.
///
/// While a commit is written to the disk, the next submissions gather in the queue. So the busier the server, the more
/// messages share a sync. An idle server commits a message at once.
final class LogWriter: Sendable {
    private let queue: WorkQueue<Submission>
    let database: SQLiteDatabase
    let journal: Journal
    private let bans: BanTable
    let configuration: StoreConfiguration
    private let storage: StorageWatch
    let reports: WriterReports
    private let quarantinedRooms = Atomic(0)
    private let errands = Mutex<[Errand]?>([])

    init(
        database: SQLiteDatabase, journal: Journal, bans: BanTable, storage: StorageWatch, observer: any LogObserver,
        configuration: StoreConfiguration
    ) {
        self.storage = storage
        self.database = database
        self.journal = journal
        self.bans = bans
        self.configuration = configuration
        queue = WorkQueue(limit: configuration.submissionQueue)
        reports = WriterReports(observer, configuration)
    }

    /// The number of waiting submissions.
    var queued: Int { queue.count }

    /// The reason why the last commit failed; `nil` if it succeeded.
    var failure: String? { reports.failure }

    /// The number of rooms that are quarantined.
    var quarantinedCount: Int { quarantinedRooms.load(ordering: .relaxed) }

    func submit(_ submissions: [Submission]) {
        let admission = queue.append(submissions)
        if let refusal = admission.refusal { reports.refuse(submissions[admission.count...], refusal) }
    }

    /// Closes the queue. The thread commits the rest and ends.
    func close() {
        queue.close()
    }

    // MARK: Errands

    /// Makes a change in a transaction of its own, on the writer's thread, and waits for it.
    ///
    /// - Throws: The error of `body` or of the database, with nothing changed.
    func perform<R>(_ body: (inout Commit<JournalTransaction>) throws -> R) throws -> R {
        var result: R?
        try withoutActuallyEscaping(
            { commit in result = try body(&commit) } as (inout Commit<JournalTransaction>) throws -> Void
        ) {
            let errand = Errand($0)
            let isQueued = errands.withLock { waiting in
                waiting?.append(errand)
                return waiting != nil
            }
            guard isQueued else { throw Problem.closed }
            queue.wake()
            try errand.wait()
        }
        return result!
    }

    private func takeErrands() -> [Errand] {
        errands.withLock { waiting in
            guard let taken = waiting, !taken.isEmpty else { return [] }
            waiting = []
            return taken
        }
    }

    // MARK: The thread

    /// Runs the thread until the queue is closed and empty. Nothing else uses the connection meanwhile.
    func run() {
        database.use { db in run(db) }
    }

    private func run(_ db: SQLiteConnection) {
        let log = WriteAheadLog(db, configuration)
        defer { log.detach(from: db) }
        var state = WriterState(db, journal, bans, configuration)
        var nextCheck = ContinuousClock.now
        var hasReportedSync = false
        while let submissions = queue.takeCommit(
            configuration.commit,
            within: wait(
                nextCheck, journal.nextIdleFiling, state.expiry.next, state.nextJob, state.nextIndexing))
        {
            if configuration.storageCheckInterval == 0 || nextCheck <= .now {
                checkStorage()
                nextCheck = .now + .milliseconds(max(1, configuration.storageCheckInterval))
            }
            // While a file is missing, nothing is committed or checkpointed.
            if storage.isLost {
                reports.refuse(submissions[...], .storageLost)
                for errand in takeErrands() { errand.refuse(Problem.storageLost) }
                continue
            }
            if !submissions.isEmpty {
                var rest = reports.awaited(submissions[...])
                while !rest.isEmpty {
                    rest = reports.awaited(rest.dropFirst(commit(rest, filing: .due, &state)))
                }
            } else if failure != nil {
                // After damage, a probe of another table proves nothing. Only a commit shows that messages can be
                // stored.
                if !state.isDamaged { probe(db, &state) }
            } else if let due = journal.nextIdleFiling, due <= .now {
                commit([], filing: .oldest(CommitLimits.filedMessages), &state)
            }
            for errand in takeErrands() { errand.run(&state) }
            if failure == nil, state.expiry.next <= .now { state.expire(reports) }
            if failure == nil, let due = state.nextJob, due <= .now { state.workOnJobs(reports) }
            // While submissions wait, indexing waits too.
            if submissions.isEmpty, failure == nil, let due = state.nextIndexing, due <= .now { state.index() }
            checkpoint(log, db, &state)
            if let error = state.failedSync, !hasReportedSync {
                hasReportedSync = true
                reports.note(failure: "\(error)")
                configuration.onFailedSync?()
            }
        }
        for errand in errands.withLock({ $0.take() }) ?? [] { errand.refuse(Problem.closed) }
        while failure == nil, !journal.isEmpty {
            commit([], filing: .oldest(configuration.commit.submissions), &state)
        }
        checkStorage()
        if storage.isLost { keepLog(db) }
        if state.failedSync != nil { _ = backscroll_sqlite_keep_log_at_close(db.handle) }
    }

    private func checkpoint(_ log: WriteAheadLog, _ db: SQLiteConnection, _ state: inout WriterState) {
        if state.failedSync != nil { return }
        do {
            try log.checkpoint(db)
        } catch {
            // The log grows until a later checkpoint succeeds, or until a commit fails too.
            state.note(error)
        }
    }

    /// Keeps SQLite from deleting the write-ahead log when the connection is closed, because the file with its name may
    /// belong to another database by now. The log is still checkpointed into the database, if that is there.
    private func keepLog(_ db: SQLiteConnection) {
        var isKept: Int32 = 1
        sqlite3_file_control(db.handle, "main", SQLITE_FCNTL_PERSIST_WAL, &isKept)
    }

    /// Returns the time in milliseconds to wait for submissions, until the next check or other work is due.
    private func wait(_ nextCheck: ContinuousClock.Instant, _ others: ContinuousClock.Instant?...) -> Int {
        var time = nextCheck
        if failure == nil { for other in others { time = min(time, other ?? time) } }
        let milliseconds = max(0, ContinuousClock.now.duration(to: time).milliseconds)
        return failure == nil || storage.isLost ? milliseconds : min(milliseconds, configuration.probeInterval)
    }

    /// Checks that the database's files are in their places, and reports a change.
    private func checkStorage() {
        let wasLost = storage.isLost
        storage.check()
        if let loss = storage.loss {
            reports.note(failure: loss)
        } else if wasLost {
            reports.note(failure: nil)
        }
    }

    /// Commits the first submissions: at least one, until they have changed ``CommitLimits/bytes`` of snapshots. A
    /// reaction to a large message has few bytes itself, and changes many.
    ///
    /// - Returns: the number of submissions done; 0 if a damaged room was quarantined and all must be tried again.
    @discardableResult
    private func commit(
        _ submissions: ArraySlice<Submission>, filing: Journal.Filing, _ state: inout WriterState
    ) -> Int {
        let start = ContinuousClock.now
        do {
            let done = try state.transact(filing: filing, submissions: submissions.count) { commit in
                try commit.apply(submissions, changing: configuration.commit.bytes)
            }
            reports.note(failure: nil)
            if submissions.isEmpty { return 0 }
            configuration.onCommit?(ContinuousClock.now - start, done.outcomes.count)
            reports.tell(done)
            return done.outcomes.count
        } catch let failure as RowFailure {
            do {
                return try keepApart(failure, submissions, &state)
            } catch {
                return fail(submissions, error, &state)
            }
        } catch {
            return fail(submissions, error, &state)
        }
    }

    /// Refuses submissions because nothing can be stored.
    ///
    /// - Returns: their number.
    private func fail(_ submissions: ArraySlice<Submission>, _ error: any Error, _ state: inout WriterState) -> Int {
        state.isDamaged = (error as? SQLiteError)?.isOfRows == true
        reports.note(failure: "\(error)")
        reports.refuse(submissions, Self.problem(error))
        return submissions.count
    }

    // MARK: Damage

    /// Quarantines the room, or refuses the submission, that has made a commit fail.
    ///
    /// - Returns: the number of submissions done; 0 if all must be tried again.
    /// - Throws: `SQLiteError` if the other submissions cannot be stored either.
    private func keepApart(
        _ failure: RowFailure, _ submissions: ArraySlice<Submission>, _ state: inout WriterState
    ) throws -> Int {
        if failure.rooms.count > 1 {
            try fileApart(failure.rooms[...], &state)
            return 0
        }
        if let room = failure.rooms.first, try quarantine(room, failure.cause, &state) { return 0 }
        guard let index = failure.submission else { throw failure.cause }
        // The submissions before it are committed first, so that outcomes are reported in order.
        if index > 0 { return commit(submissions.prefix(index), filing: .due, &state) }
        reports.refuse(submissions.prefix(1), Self.problem(failure.cause))
        return 1
    }

    /// Files rooms in halves, quarters and so on, each in a transaction of its own, and quarantines those that fail.
    private func fileApart(_ rooms: ArraySlice<RoomID>, _ state: inout WriterState) throws {
        do {
            _ = try state.transact(filing: .rooms(rooms)) { _ in }
        } catch let failure as RowFailure {
            guard rooms.count > 1 else {
                guard try quarantine(rooms.first!, failure.cause, &state) else { throw failure.cause }
                return
            }
            let half = rooms.startIndex + rooms.count / 2
            try fileApart(rooms[..<half], &state)
            try fileApart(rooms[half...], &state)
        }
    }

    private func quarantine(_ room: RoomID, _ cause: SQLiteError, _ state: inout WriterState) throws -> Bool {
        guard try state.quarantine(room) else { return false }
        quarantinedRooms.store(state.quarantined.count, ordering: .relaxed)
        configuration.onQuarantine?(room, "\(cause)")
        return true
    }

    /// Number of bytes that a probe writes: as many as a large send, to show that the disk has room for one.
    private static let probeBytes = 256 * 1024

    /// Writes and deletes a row, to find out if the database can be written again.
    private func probe(_ db: SQLiteConnection, _ state: inout WriterState) {
        if state.failedSync != nil { return }
        do {
            try db.execute("INSERT OR REPLACE INTO meta VALUES ('probe', zeroblob(\(Self.probeBytes)))")
            try db.execute("DELETE FROM meta WHERE key = 'probe'")
            reports.note(failure: nil)
        } catch {
            state.note(error)
            reports.note(failure: "\(error)")
        }
    }

    private static func problem(_ error: any Error) -> Problem {
        guard let error = error as? SQLiteError else { return .unavailable("The message could not be stored.") }
        return error.isFullDisk
            ? .storageFull : .unavailable("The message could not be stored: \(error.message).")
    }
}

// Sendable because the thread that asks for it waits while the writer's thread runs it, and the monitor guards the result.
/// A change that another thread asks the writer for, and waits for.
private final class Errand: @unchecked Sendable {
    // Released before the result is known: it must not outlive the call that asks for it.
    private var body: ((inout Commit<JournalTransaction>) throws -> Void)?
    private let monitor = Monitor()
    private var result: Result<Void, any Error>?

    init(_ body: @escaping (inout Commit<JournalTransaction>) throws -> Void) { self.body = body }

    func run(_ state: inout WriterState) {
        finish(result(&state))
        // It may have changed the webhooks.
        state.forgetWebhooks()
    }

    private func result(_ state: inout WriterState) -> Result<Void, any Error> {
        guard let body = body.take() else { return .success(()) }
        return Result { _ = try state.transact(body) }
    }

    func refuse(_ problem: Problem) {
        body = nil
        finish(.failure(problem))
    }

    private func finish(_ result: Result<Void, any Error>) {
        monitor.locked { self.result = result }
        monitor.wakeAll()
    }

    func wait() throws {
        try monitor.locked {
            while result == nil { _ = monitor.wait() }
            return result!
        }.get()
    }
}

extension Problem {
    /// 503: the log is closed.
    fileprivate static var closed: Problem { .unavailable("The server is shutting down.") }
}
