import Chat
import Wire

/// The state that SQLite's writer keeps from one transaction to the next.
///
/// Confined to the writer's thread.
struct WriterState: CommitMaker {
    private let db: SQLiteConnection
    let configuration: StoreConfiguration
    // Prepared when they are first needed. This may fail, and succeed later.
    private var prepared: (statements: WriterStatements, fingerprinter: Fingerprinter)?
    private var rooms: RoomTable
    let journal: Journal
    /// The rooms that are read-only because their rows are damaged, see ``RowFailure``.
    private(set) var quarantined: Set<RoomID> = []
    /// True if the last commit failed because of damage that concerns more than one room.
    var isDamaged = false
    /// The first failure of a sync; `nil` if none has failed. Nothing is written after one.
    ///
    /// Linux drops what a failed sync should have brought to the disk, although reads still return it, and the next sync
    /// succeeds. A checkpoint may have copied pages of the write-ahead log that were dropped so, and SQLite would not copy
    /// them again before it overwrites the log. So the log is kept as it is until the database is opened again, see
    /// ``LogRewrite``.
    private(set) var failedSync: SQLiteError?
    var jobs: Jobs
    /// The time to read the jobs that an earlier process has left; `nil` once they are read.
    private var jobsReading: ContinuousClock.Instant? = .now
    private var hasFailedToReadJobs = false
    var expiry: Expiry
    private let filter: ClientMessageFilter
    private let bans: BanTable
    /// The users who are being erased.
    private var erasing: Set<UserID> = []
    /// The webhooks; `nil` before the first commit, and after a change of them.
    private var webhooks: [Webhook]?
    private var pace = IndexPace()
    /// True while commits list what may lower badges, see ``SQLiteConnection/listPushChanges(_:)``.
    private var listsPushChanges = false

    init(_ db: SQLiteConnection, _ journal: Journal, _ bans: BanTable, _ configuration: StoreConfiguration) {
        self.db = db
        self.bans = bans
        self.configuration = configuration
        self.journal = journal
        rooms = RoomTable(limit: configuration.cachedRooms)
        filter = ClientMessageFilter(bytes: journal.limits.filterBytes)
        jobs = Jobs(retry: .milliseconds(configuration.jobRetry), at: .now)
        expiry = Expiry(configuration.expiryLimits, at: .now)
        // Both are tried again if they fail: with the first commit, and with the first step of indexing.
        try? prepare().statements.search.start()
    }

    /// Returns the statements, which are prepared once.
    private mutating func prepare() throws -> (statements: WriterStatements, fingerprinter: Fingerprinter) {
        if let prepared { return prepared }
        let new = (statements: try WriterStatements(db, configuration), fingerprinter: try Fingerprinter(db))
        erasing = try db.unfinishedErasures()
        prepared = new
        return new
    }

    private mutating func add(_ new: [Job]) {
        if new.isEmpty { return }
        var new = new
        for index in new.indices { new[index].journalRow = journal.nextRow }
        jobs.add(new)
    }

    /// Quarantines a room. Its messages stay in the journal, and are filed when the log is opened again.
    ///
    /// - Returns: false, with nothing changed, if there would be too many such rooms or too many bytes.
    /// - Throws: `SQLiteError`, with nothing changed.
    mutating func quarantine(_ room: RoomID) throws -> Bool {
        do {
            guard quarantined.count < journal.limits.quarantinedRooms,
                try journal.quarantine(room, prepare().statements)
            else {
                return false
            }
        } catch {
            note(error)
            throw error
        }
        quarantined.insert(room)
        return true
    }

    mutating func transact(
        _ body: (inout Commit<JournalTransaction>) throws -> Void
    ) throws -> Commit<JournalTransaction> {
        try transact(filing: .none, body)
    }

    /// Makes one transaction: files messages, and then does what `body` does.
    ///
    /// - Parameter submissions: Maximum number of submissions that `body` applies.
    /// - Throws: ``RowFailure`` or `SQLiteError`, with nothing changed.
    mutating func transact(
        filing: Journal.Filing, submissions: Int = 0, _ body: (inout Commit<JournalTransaction>) throws -> Void
    ) throws -> Commit<JournalTransaction> {
        if let failedSync { throw failedSync }
        pace.note(submissions, at: .now)
        let (statements, fingerprinter) = try prepare()
        let time = configuration.clock()
        let eventKinds = Set(try loadedWebhooks().flatMap(\.events))
        // Taken out while it changes, and put back only if the transaction succeeds.
        let rooms = rooms
        self.rooms = RoomTable(limit: configuration.cachedRooms)
        var commit = Commit(
            // Not in a constant, which would share the memory that it has reserved.
            JournalTransaction(
                journal, filter, quarantined: quarantined, filing: filing, appending: submissions, at: time, statements),
            rooms: rooms, bans: bans, erasing: erasing, events: eventKinds, submissions: submissions, at: time,
            fingerprinter, configuration)
        do {
            try db.transaction(.immediate) { _ in
                try commit.store.begin()
                try body(&commit)
                try listRooms(of: &commit)
                try commit.store.write()
            }
        } catch {
            note(error)
            throw error
        }
        commit.bans.apply(at: commit.time)
        erasing = commit.erasing
        self.rooms = commit.takeRooms()
        self.rooms.keepWithinLimit()
        commit.store.committed()
        add(commit.jobs)
        return commit
    }

    // MARK: Webhooks

    /// Reads the webhooks again with the next commit.
    mutating func forgetWebhooks() { webhooks = nil }

    /// Returns the webhooks, which are read before the first transaction, and after a change of them.
    private mutating func loadedWebhooks() throws -> [Webhook] {
        if let webhooks { return webhooks }
        let loaded = try db.webhooks()
        let wantsPushChanges = loaded.contains { $0.events.contains(.push) }
        if wantsPushChanges || listsPushChanges {
            try db.listPushChanges(wantsPushChanges)
            listsPushChanges = wantsPushChanges
        }
        webhooks = loaded
        return loaded
    }

    /// Lists the rooms that a commit changes for the webhooks that cover them, and stores its events.
    private func listRooms(of commit: inout Commit<JournalTransaction>) throws {
        guard let webhooks, !webhooks.isEmpty else { return }
        for batch in commit.batches {
            for webhook in webhooks where webhook.covers(batch.room) {
                for cursor in webhook.cursors(ofDeletion: false) {
                    try db.listWebhookRoom(
                        commit.rooms[batch.room]!.number, of: cursor, since: batch.since, at: commit.time)
                }
            }
        }
        for id in commit.bans.deletedRooms {
            guard let room = commit.rooms[id] else { continue }
            for webhook in webhooks where webhook.covers(id) {
                for cursor in webhook.cursors(ofDeletion: true) {
                    try db.listWebhookRoom(room.number, of: cursor, since: room.rev, at: commit.time)
                }
            }
        }
        if !commit.events.isEmpty { try commit.storeEvents(for: webhooks) }
    }

    /// Remembers a failed sync.
    mutating func note(_ error: any Error) {
        guard let error = error as? SQLiteError ?? (error as? RowFailure)?.cause, error.isFailedSync else { return }
        if failedSync == nil { failedSync = error }
    }

    // MARK: Jobs and expiry

    /// The time when there is a job to work on, or when the jobs must be read; `nil` if there is nothing to do.
    var nextJob: ContinuousClock.Instant? { jobsReading ?? jobs.next }

    /// Performs one part of a job. Before, reads the jobs that an earlier process has left. If they cannot be read, sends
    /// go on, and it is tried again: a user may wait to be erased.
    mutating func workOnJobs(_ reports: WriterReports) {
        if jobsReading != nil {
            do {
                add(try db.jobs())
                jobsReading = nil
            } catch {
                if !hasFailedToReadJobs { configuration.onJob?(.failed("reading unfinished jobs", "\(error)")) }
                hasFailedToReadJobs = true
                jobsReading = .now + .milliseconds(configuration.jobRetry)
                return
            }
        }
        work(reports)
    }

    /// Files the messages of the journal's rows that may hold data to remove, so that a later commit deletes the rows.
    mutating func makeReady(for job: Job) throws -> Bool {
        guard journal.hasRows(before: job.journalRow) else { return false }
        _ = try transact(filing: .rows(before: job.journalRow)) { _ in }
        return true
    }

    func keepTime() -> Expiry.KeepTime {
        Expiry.KeepTime(now: configuration.clock(), days: configuration.keepDays.map(Int64.init))
    }

    /// Returns rooms. A message that only the journal has is found once it is filed, some minutes later.
    func expiryRooms(after room: Int64, most: Int, ofAll: Bool) throws -> [Expiry.Room] {
        // A damaged message must not keep other rooms from being listed.
        try db.all(
            """
            SELECT rooms.id, rooms.name, ifnull(expired.seq, 0), keep_days
            FROM rooms LEFT JOIN expired ON expired.room = rooms.id
            WHERE rooms.id > $1 AND rooms.deleted = 0\(ofAll ? "" : " AND keep_days IS NOT NULL")
            ORDER BY rooms.id LIMIT $2
            """, room, most
        ) { row in
            Expiry.Room(
                number: row.integer(0), room: RoomID(trusted: row.text(1)), mark: row.integer(2),
                keepDays: row.isNull(3) ? nil : row.integer(3), oldest: nil)
        }
    }

    func isDue(_ room: Expiry.Room, before cutoff: Timestamp) throws -> Bool {
        let next = RowKey(room: room.number, room.mark).rawValue + 1
        return try db.first("SELECT created_at FROM messages WHERE id = $1", next) {
            $0.integer(0) < cutoff.milliseconds
        } ?? false
    }

    // MARK: Search

    /// The time when the index of words has something to do; `nil` if it has nothing.
    var nextIndexing: ContinuousClock.Instant? { prepared?.statements.search.next.map { max($0, pace.next) } }

    /// Does a step of indexing messages. A failure does not mean that sends fail, so it does not change the health of the
    /// log.
    mutating func index() {
        if failedSync != nil { return }
        let start = ContinuousClock.now
        defer { pace.worked(from: start, to: .now) }
        do {
            if let event = try prepare().statements.search.step() { configuration.onJob?(event) }
        } catch {
            note(error)
            configuration.onJob?(.failed(SearchIndex.name, "\(error)"))
        }
    }
}
