import Chat
import GRDB
import GRDBSQLite
import Synchronization
import Wire

/// The one thread that writes: it takes what has queued, commits it in one transaction with one sync, and tells.
///
/// A commit puts its messages into the journal; see ``Backlog`` for how they get from there to their places. While a
/// commit is on its way to the disk the next ones gather, so the busier the server, the more messages share a sync; idle,
/// a message is committed at once.
final class LogWriter: Sendable {
    private let queue: WorkQueue<Submission>
    let database: DatabaseQueue
    let observer: any LogObserver
    /// As it was when the database was opened; the thread has its own from there on.
    private let journal: Journal
    private let bans: BanTable
    let configuration: StoreConfiguration
    private let storage: StorageWatch
    private let failureText = Mutex<String?>(nil)
    private let asideRooms = Atomic(0)

    init(
        database: DatabaseQueue, journal: Journal, bans: BanTable, storage: StorageWatch, observer: any LogObserver,
        configuration: StoreConfiguration
    ) {
        self.storage = storage
        self.database = database
        self.journal = journal
        self.bans = bans
        self.observer = observer
        self.configuration = configuration
        queue = WorkQueue(limit: configuration.submissionQueue)
    }

    /// The number of submissions that wait.
    var queued: Int { queue.count }

    /// The reason why the last commit failed; `nil` when it did not.
    var failure: String? { failureText.withLock { $0 } }

    /// The number of rooms that are set aside.
    var asideCount: Int { asideRooms.load(ordering: .relaxed) }

    /// Adds to the next commit.
    func submit(_ submissions: [Submission]) {
        let admission = queue.append(submissions)
        guard let refusal = admission.refusal else { return }
        observer.committed(
            submissions[admission.count...].map { Outcome(ticket: $0.ticket, result: .failure(refusal)) }, [])
    }

    /// Commits what is left, and ends.
    func close() {
        queue.close()
    }

    // MARK: The thread

    /// Commits until the queue is closed and empty. Nothing else uses the connection meanwhile.
    func run() {
        database.writeWithoutTransaction { db in run(db) }
    }

    private func run(_ db: Database) {
        let log = WriteAheadLog(db, configuration)
        defer { log.detach(from: db) }
        var state = WriterState(db, journal, bans, configuration)
        var expiry = configuration.expiryLimits.map { Expiry($0, at: .now) }
        var jobs = unfinishedJobs(&state)
        var filingTime = ContinuousClock.now + .milliseconds(configuration.filingDelay)
        var nextLook = ContinuousClock.now
        while let submissions = take(within: wait(for: state.journal, filingTime, nextLook, expiry?.next, jobs.next)) {
            if configuration.storageLookInterval == 0 || nextLook <= .now {
                look()
                nextLook = .now + .milliseconds(max(1, configuration.storageLookInterval))
            }
            // Nothing is written while a file is gone, nor brought into it.
            if storage.isLost {
                refuse(submissions[...], .storageLost)
                continue
            }
            if !submissions.isEmpty {
                var rest = submissions[...]
                let row = state.journal.nextRow
                while !rest.isEmpty {
                    rest = rest.dropFirst(commit(rest, state.journal.due(at: configuration.clock()), &state, &jobs))
                }
                // Read marks and changes of messages add nothing to the journal.
                if state.journal.nextRow > row { filingTime = .now + .milliseconds(configuration.filingDelay) }
            } else if failure != nil {
                // Writing elsewhere says nothing of what is damaged: then only a commit shows that messages can be stored.
                if !state.isDamaged { probe(db) }
            } else if !state.journal.isEmpty, filingTime <= .now {
                // Until there is something better to do.
                commit([], state.journal.recent.oldest(Backlog.messagesOfFiling), &state, &jobs)
            }
            if failure == nil, var due = expiry, due.next <= .now {
                expire(&due, &state, &jobs)
                expiry = due
            }
            if failure == nil, let due = jobs.next, due <= .now { work(on: &jobs, &state) }
            // Where this fails, the log grows until it can be done, or until a commit fails too.
            try? log.checkpoint(db)
        }
        while failure == nil, !state.journal.isEmpty {
            commit([], state.journal.recent.oldest(configuration.commitSubmissions), &state, &jobs)
        }
        look()
        if storage.isLost { keepLog(db) }
    }

    /// Keeps SQLite from deleting the write-ahead log when the connection is closed: what has its name may be another
    /// database's by now. What the log holds is brought into the database all the same, if that is still there.
    private func keepLog(_ db: Database) {
        var isKept: Int32 = 1
        sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_PERSIST_WAL, &isKept)
    }

    /// The time to wait for submissions, in milliseconds, until there is something else to be done.
    private func wait(
        for journal: Journal, _ filingTime: ContinuousClock.Instant, _ nextLook: ContinuousClock.Instant,
        _ others: ContinuousClock.Instant?...
    ) -> Int {
        var time = nextLook
        if failure == nil {
            for other in others { time = min(time, other ?? time) }
            if !journal.isEmpty { time = min(time, filingTime) }
        }
        let milliseconds = max(0, ContinuousClock.now.duration(to: time).milliseconds)
        return failure == nil || storage.isLost ? milliseconds : min(milliseconds, configuration.probeInterval)
    }

    /// Looks whether the files are in their places, and tells when that is news.
    private func look() {
        let wasLost = storage.isLost
        storage.look()
        if let loss = storage.loss {
            note(failure: loss)
        } else if wasLost {
            note(failure: nil)
        }
    }

    private func refuse(_ submissions: ArraySlice<Submission>, _ problem: Problem) {
        if submissions.isEmpty { return }
        observer.committed(submissions.map { Outcome(ticket: $0.ticket, result: .failure(problem)) }, [])
    }

    /// Waits for what is to be committed next; nothing when the time is up.
    private func take(within milliseconds: Int?) -> [Submission]? {
        queue.take(configuration.commitSubmissions, within: milliseconds) { waiting in
            var bytes = 0
            for index in waiting.indices {
                bytes += waiting[index].byteCount
                if bytes > configuration.commitBytes { return index }
            }
            return waiting.count
        }
    }

    /// Commits the first of the submissions: one at least, and as many as it takes to make `commitBytes` of changed
    /// snapshots. A reaction to a large message brings little with it, and makes much.
    ///
    /// - Returns: how many it was; 0 when they are to be tried again because a damaged room was set aside.
    @discardableResult
    private func commit(
        _ submissions: ArraySlice<Submission>, _ filing: Backlog.Filing, _ state: inout WriterState,
        _ jobs: inout Jobs
    ) -> Int {
        let start = ContinuousClock.now
        do {
            let done = try state.transact(filing, submissions: submissions.count) { commit in
                try commit.apply(submissions, changing: configuration.commitBytes)
            }
            note(failure: nil)
            if submissions.isEmpty { return 0 }
            configuration.onCommit?(ContinuousClock.now - start, done.outcomes.count)
            add(done.jobs, to: &jobs, state.journal)
            tell(done)
            return done.outcomes.count
        } catch let failure as RowFailure {
            do {
                return try keepApart(failure, submissions, filing, &state, &jobs)
            } catch {
                return fail(submissions, error, &state)
            }
        } catch {
            return fail(submissions, error, &state)
        }
    }

    /// Refuses submissions because nothing can be stored.
    private func fail(_ submissions: ArraySlice<Submission>, _ error: any Error, _ state: inout WriterState) -> Int {
        state.isDamaged = (error as? DatabaseError)?.isOfRows == true
        note(failure: "\(error)")
        refuse(submissions, Self.problem(error))
        return submissions.count
    }

    // MARK: Damage

    /// Sets aside or refuses what a commit has failed because of, of which nothing lasts.
    ///
    /// - Returns: how many submissions are done with; 0 when all are to be tried again.
    /// - Throws: `DatabaseError` when the rest cannot be stored either.
    private func keepApart(
        _ failure: RowFailure, _ submissions: ArraySlice<Submission>, _ filing: Backlog.Filing,
        _ state: inout WriterState, _ jobs: inout Jobs
    ) throws -> Int {
        if let room = failure.room, try setAside(room, failure.cause, &state) { return 0 }
        guard let index = failure.submission else {
            if failure.room != nil { throw failure.cause }
            try fileApart(filing.rooms[...], &state)
            return 0
        }
        // The submissions before it are committed first, so that outcomes are told in order.
        if index > 0 { return commit(submissions.prefix(index), filing, &state, &jobs) }
        refuse(submissions.prefix(1), Self.problem(failure.cause))
        return 1
    }

    /// Files rooms in ever smaller parts, each in a transaction of its own, and sets those aside that cannot be filed.
    private func fileApart(_ rooms: ArraySlice<RoomID>, _ state: inout WriterState) throws {
        do {
            _ = try state.transact(state.journal.recent.filing(of: rooms)) { _ in }
        } catch let failure as RowFailure {
            guard rooms.count > 1 else {
                guard try setAside(rooms.first!, failure.cause, &state) else { throw failure.cause }
                return
            }
            let half = rooms.startIndex + rooms.count / 2
            try fileApart(rooms[..<half], &state)
            try fileApart(rooms[half...], &state)
        }
    }

    private func setAside(_ room: RoomID, _ cause: DatabaseError, _ state: inout WriterState) throws -> Bool {
        guard try state.setAside(room) else { return false }
        asideRooms.store(state.aside.count, ordering: .relaxed)
        configuration.onSetAside?(room, "\(cause)")
        return true
    }

    /// Tells what a commit that is durable has done.
    func tell(_ done: borrowing Commit) {
        if !done.memberships.isEmpty { observer.membershipsChanged(done.memberships) }
        if !done.ends.isEmpty { observer.accessEnded(done.ends) }
        if !done.outcomes.isEmpty || !done.batches.isEmpty { observer.committed(done.outcomes, done.batches) }
    }

    /// How much a probe writes: as much as a large send, since whether there is room shows only when some is taken.
    private static let probeBytes = 256 * 1024

    /// Writes something, and takes it away again.
    private func probe(_ db: Database) {
        do {
            try db.execute(
                sql: "INSERT OR REPLACE INTO meta VALUES ('probe', zeroblob(?))", arguments: [Self.probeBytes])
            try db.execute(sql: "DELETE FROM meta WHERE key = 'probe'")
            note(failure: nil)
        } catch {
            note(failure: "\(error)")
        }
    }

    /// Remembers what came of the last attempt to write, and tells when that is news.
    private func note(failure: String?) {
        let before = failureText.withLock { text in
            defer { text = failure }
            return text
        }
        if (before == nil) != (failure == nil) { configuration.onHealthChange?(failure) }
    }

    private static func problem(_ error: any Error) -> Problem {
        guard let error = error as? DatabaseError else { return .unavailable("The message could not be stored.") }
        return error.resultCode == .SQLITE_FULL
            ? .storageFull : .unavailable("The message could not be stored: \(error.message ?? "I/O error").")
    }
}

extension Duration {
    /// The time in milliseconds, rounded up: who waits so long does not wake up before it is over.
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

extension Submission {
    /// About how many bytes it brings with it.
    fileprivate var byteCount: Int {
        switch change {
        case .send(let draft): draft.content.byteCount
        case .change(let change):
            switch change.action {
            case .edit(let edit):
                (edit.text?.utf8.count ?? 0) + (edit.data?.count ?? 0) + (edit.attachments?.byteCount ?? 0)
            case .delete, .addReaction, .removeReaction: 0
            }
        case .read, .room, .user: 0
        }
    }
}

extension Content {
    /// About how many bytes it has.
    fileprivate var byteCount: Int {
        text.utf8.count + data.count + (attachments.isEmpty ? 0 : attachments.byteCount)
    }
}

extension Attachment {
    /// About how many bytes it has: its strings, and what its numbers and all names take.
    fileprivate var byteCount: Int {
        var count = url.utf8.count + 128
        for string in [mime, title, description, thumbhash] { count += string?.utf8.count ?? 0 }
        return count
    }
}

extension [Attachment] {
    /// About how many bytes they have.
    fileprivate var byteCount: Int { reduce(0) { $0 + $1.byteCount } }
}
